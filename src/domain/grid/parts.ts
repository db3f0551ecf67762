import type { Launch } from "../../device/device.js";
import type { View } from "../../device/memory/view.js";
import type { KernelIR } from "../../ir/types.js";
import type { MemberCopy } from "../../set/index.js";

/**
 * The cells of a partition that a launch runs over: `internal` ones are farther from the neighbouring partitions than any stencil of the
 * grid reaches, `boundary` ones are the others, `standard` is both.
 */
export type DataView = "standard" | "internal" | "boundary";

/** Places [first, end) along an axis. */
export type Span = readonly [first: number, end: number];

/** The planes of the last axis (z; y in 2D), or rows of them, that one member of the set owns. */
export interface Partition {
  readonly device: number;
  /** Global index of the first plane. */
  readonly first: number;
  readonly planes: number;
  /** Global indices of its rows in each plane, where the grid is cut along y as well. Default: all rows. */
  readonly rows?: Span;
  /** Active cells. */
  readonly cells: number;
}

/** A copy of one contiguous piece between two members; both views have rank 1 and one length. */
export type HaloCopy = MemberCopy;

/** A neighbour's position relative to a cell: [dx, dy, dz], or [dx, dy]. */
export type Offset = readonly number[];

/** An array of each member's own. */
export interface MemberArray {
  readonly name: string;
  /** By member of this process. */
  readonly views: readonly View[];
}

/** How a container uses an array of each member. */
export interface ArrayUse {
  readonly array: MemberArray;
  readonly read: boolean;
  readonly written: boolean;
}

/** Launches of each member, none for members of other processes, and the copies after them; what comes next waits for both. */
export interface Round {
  readonly launches: readonly (readonly Launch[])[];
  readonly copies: readonly HaloCopy[];
}

/** The work of a container on all members, where launches over their cells are not all of it. */
export interface Rounds {
  readonly rounds: readonly Round[];
  /** Frees launches, and memory that only they use. */
  free(): void;
}

/** The code of a container over stretches. */
export interface March {
  /**
   * Code at the beginning of a stretch, and at its end a loop over one cell, or over several; inside the loop, indices belong to the cell
   * that it has come to.
   */
  readonly ir: KernelIR;
  /** The kernel axis. */
  readonly axis: number;
  /** Cells of a stretch, where the author asks for a number. */
  readonly stretch?: number;
}
