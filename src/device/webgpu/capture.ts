import type { Binding } from "../launch/binding.js";
import type { Buffer } from "../memory/view.js";
import type { Commands } from "./commands.js";

/** One piece of work for the device. */
export interface EncodedStep {
  encode(commands: Commands): void;
}

/** Work that a device's queues were given during a capture, in order. */
export class Captured {
  readonly steps: EncodedStep[] = [];
  readonly launches = new Set<{ requireReady(): void; ran: boolean; readonly recorded: readonly Binding[] }>();
  readonly buffers = new Set<Buffer>();
  /** Dispatches of copies, with their numbers. */
  readonly dispatches: { free(): void }[] = [];
}
