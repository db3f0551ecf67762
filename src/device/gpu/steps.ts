import { slotText, type AnySlot } from "../../schedule/slots.js";

/** Gives the parameters of an entry, or the fields of a shader's block, their values. */
export type Fill<Slot> = (slot: Slot) => number | bigint | boolean | undefined;

/** The value of a slot; each must have one. Truth values are 0 and 1. */
export function valueOf<Slot extends AnySlot>(fill: Fill<Slot>, slot: Slot): number | bigint {
  const value = fill(slot);
  if (value === undefined) throw new Error(`no value for the kernel parameter "${slotText(slot)}"`);
  return typeof value === "boolean" ? Number(value) : value;
}

/** Gives what a table has for each kind of slot. */
export const fillFrom =
  <Kind extends string>(values: Readonly<Record<Kind, number | bigint | boolean>>): Fill<{ readonly kind: Kind }> =>
  ({ kind }) =>
    values[kind];

/** One piece of work for a stream, given by its handle. */
export interface StreamStep {
  enqueue(stream: number): void;
  /** Gives scalars of a launch other values, from the next enqueue on. */
  setScalars?(values: Readonly<Record<string, number | bigint | boolean>>): void;
  /** Gives all parameters other values and takes another grid, from the next enqueue on. */
  refill?(shape: GridShape, fill: Fill<AnySlot>): void;
  /** Gives back what the step holds of the driver. */
  free?(): void;
}

export interface GridShape {
  /** Blocks, along x, y and z. */
  grid: readonly [number, number, number];
  /** Threads of a block. */
  block: readonly [number, number, number];
  /** Dynamic shared memory in bytes. */
  shared?: number;
}

/** Blocks of `size` that cover `count`. */
export const blocks = (count: number, size: number): number => Math.ceil(count / size);
