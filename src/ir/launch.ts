import { REDUCTION_CHUNK } from "./types.js";

/* The shape of a launch: what emitters must know of one beside the kernel. */

/** `strict`: bit-identical everywhere; `fast`: contraction and the device's own order of reductions (docs/determinism.md). */
export type Precision = "strict" | "fast";
/** How many elements add to one place of an array (docs/scatter.md). */
export type ScatterStrategy = "atomic" | "duplicated" | "cached" | "sorted";

/**
 * The index set of a launch: `extents[a]` indices from `begin[a]` along each of 1 to 4 axes. `tile` is a wish for the indices along each axis
 * that are worked on together: blocks of loops on CPUs, of threads on GPUs.
 */
export interface RangePolicy {
  kind: "range";
  begin: number[];
  extents: number[];
  tile?: number[];
}
/**
 * `league` teams; `size` is a wish for the members of one team and `lanes` for the lanes of a member; devices choose where they are absent. `abreast`
 * neighbouring teams may run side by side.
 */
export interface TeamPolicy {
  kind: "team";
  league: number;
  size?: number;
  lanes?: number;
  abreast?: number;
}
/** Index set of a kernel: `range(...)` or `teams(...)`. */
export type Policy = RangePolicy | TeamPolicy;

/** Chunks of a line of `extent` elements. */
export function chunksPerLine(extent: number): number {
  return Math.ceil(extent / REDUCTION_CHUNK);
}

/** Number of partials that a strict launch leaves for each reduce parameter; partial `line * chunksPerLine + chunk`, or the team's rank. */
export function partialCount(policy: Policy): number {
  if (policy.kind === "team") return policy.league;
  return policy.extents.slice(0, -1).reduce((a, b) => a * b, chunksPerLine(policy.extents.at(-1)!));
}
