import type { Device } from "../device/device.js";
import type { Carried, Carrier } from "./carrier.js";
import type { Ranks } from "./ranks.js";
import type { Transport } from "./transport.js";

/** A job as `devices("mpi:...")` uses it. All functions are called by all ranks, in one order. */
export interface Joined {
  readonly ranks: Ranks;
  /** Does work on every rank; an error on one is thrown on all, after `undo` of what was made elsewhere. */
  together<T>(work: () => Promise<T>, undo?: (result: T) => Promise<void>): Promise<T>;
  /** The specification of this rank's devices: `cuda` is a GPU of its own. Throws DeviceError. */
  ownSpec(): Promise<string>;
  /** Names of the members of all ranks, by rank, from the names on this one. */
  members(own: readonly string[]): Promise<readonly (readonly string[])[]>;
  /**
   * The way of messages between memories of devices, decided by all ranks: what carries them, unless they go through the host.
   * @param devices of this rank, by member
   * @param link the way that was asked for
   */
  way(devices: readonly Device[], link: "nccl" | "mpi" | undefined): Promise<{ readonly carried?: Carried; readonly carrier?: Carrier }>;
  /** Messages between members, given by rank. */
  transport(members: readonly (readonly unknown[])[]): Transport;
}
