import type { DeviceSet } from "isoform/set";

/** A point of the picture, in cells; y goes down. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A line that the visitor has drawn. */
export interface Stroke {
  readonly from: Point;
  readonly to: Point;
  readonly erase: boolean;
}

/** Cells along x and y. */
export type Extents = readonly [number, number];

/** Something to look at that runs on a device. */
export interface Exhibit {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** Effect of the visitor's strokes. */
  readonly hint: string;
  /** Whether strokes can be taken back. */
  readonly erases: boolean;
  /** Words of what is seen, for those who do not see it. */
  readonly alternative: string;
  /** Cells along x and y that the visitor may choose. */
  readonly sizes: readonly Extents[];
  /** The size that suits the device. */
  defaultGrid(set: DeviceSet): number;
  /** `canvas` has as many pixels as there are cells. */
  open(set: DeviceSet, canvas: HTMLCanvasElement): Promise<Show>;
}

/** An exhibit on a device. Its calls are done in this order. */
export interface Show {
  /** Cells that a step computes, if it has cells. */
  readonly cells?: number;
  /** Frames that may be under way at once. */
  readonly ahead: number;
  /** Steps of a frame, where more would be too fast to look at. */
  readonly most?: number;
  /** How far it has come, in words. */
  readonly state: string;
  /**
   * Submits at most `steps` steps, fewer if nothing is left to do, and draws them on the canvas. Resolves once they are made and the
   * device is done, to their number.
   */
  frame(steps: number): Promise<number>;
  draw(stroke: Stroke): void;
  /** Back to the beginning. */
  reset(): void | Promise<void>;
  free(): void;
}

/** Frames under way of shows that only submit: while the device works on one, the next is handed over. */
export const AHEAD = 2;

/** Largest first. */
export const GRIDS: readonly Extents[] = [
  [2048, 1024],
  [1024, 512],
  [512, 256],
  [256, 128],
  [128, 64],
];

/** Sizes of `GRIDS` for a GPU, for threads with shared memory, and for one thread. */
export function defaultGrid({ locals: [{ device }] }: DeviceSet): number {
  if (device.backend === "webgpu") return 1;
  return device.backend === "wasm" && device.capabilities.parallelism > 1 ? 2 : 3;
}
