import type { ScatterStrategy } from "./launch.js";

/* Ways in which a launch can be tuned: how its work is shared out. Each value gives the same results, and in strict mode the same bits. */

/** Values that say how a launch shares out its work. The device chooses those that are omitted. */
export interface Tuning {
  /** GPUs: threads of a block over a range. */
  readonly threads?: number;
  /** GPUs, several axes: threads of a block along the last axis, at most. */
  readonly row?: number;
  /** GPUs, one to three axes: elements along the first axis that a thread works on together. */
  readonly elements?: number;
  /** GPUs, three axes: neighbouring planes of a block. */
  readonly planes?: number;
  /** CUDA: blocks that a multiprocessor holds at least; the fewer, the more registers a thread may have. */
  readonly resident?: number;
  /** GPUs, three axes: share of the last-level cache that the planes of a tile of blocks may fill. */
  readonly cacheShare?: number;
  /** `js`, `wasm`, `native`: threads that take part. */
  readonly workers?: number;
  /** `native`: axis of the range along which it is shared out among the workers. */
  readonly axis?: number;
  /** `native`: whether whole cache lines go past the caches. */
  readonly stores?: "cached" | "non-temporal";
  /** How all scatter parameters' updates are brought together: on GPUs `duplicated` means copies in a block's own memory. */
  readonly scatter?: ScatterStrategy;
}

/** Parameters that one launch has, with the values that it can take. */
export type Tunables = { readonly [P in keyof Tuning]?: readonly NonNullable<Tuning[P]>[] };

/** All names, in the order in which they are measured: what matters most comes first. */
export const TUNING_NAMES: readonly (keyof Tuning)[] = [
  "scatter",
  "stores",
  "workers",
  "axis",
  "elements",
  "threads",
  "row",
  "planes",
  "resident",
  "cacheShare",
];

/** `threads 128, row 32`; `nothing set` where empty. */
export function tuningText(values: Tuning): string {
  const set = TUNING_NAMES.flatMap((name) => (values[name] === undefined ? [] : [`${name} ${values[name]}`]));
  return set.join(", ") || "nothing set";
}
