import type { View } from "../../device/memory/view.js";

/**
 * The cells of a partition that a launch runs over: `internal` ones are farther from the neighbouring partitions than any stencil of the
 * grid reaches, `boundary` ones are the others, `standard` is both.
 */
export type DataView = "standard" | "internal" | "boundary";

/** The planes of the last axis (z; y in 2D) that one member of the set owns. */
export interface Partition {
  readonly device: number;
  /** Global index of the first plane. */
  readonly first: number;
  readonly planes: number;
  /** Active cells. */
  readonly cells: number;
}

/** A copy of one contiguous piece between the memories of two members; both views have rank 1 and one length. */
export interface HaloCopy {
  readonly from: number;
  readonly to: number;
  readonly source: View;
  readonly target: View;
}

/** A neighbour's position relative to a cell: [dx, dy, dz], or [dx, dy]. */
export type Offset = readonly number[];
