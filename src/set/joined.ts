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
  /** Messages between members, given by rank. */
  transport(members: readonly (readonly unknown[])[]): Transport;
}
