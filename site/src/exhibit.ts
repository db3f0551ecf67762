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

/** Something to look at that runs on a device. */
export interface Exhibit {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** What the visitor's strokes do. */
  readonly hint: string;
  /** Whether strokes can be taken back. */
  readonly erases: boolean;
  /** Words of what is seen, for those who do not see it. */
  readonly alternative: string;
  /** Cells along x and y that the device is good for. */
  extents(set: DeviceSet): readonly [number, number];
  open(set: DeviceSet, extents: readonly [number, number]): Promise<Show>;
}

export interface Frame {
  /** That were made. */
  readonly steps: number;
  /** In words. */
  readonly state: string;
}

/** An exhibit on a device. */
export interface Show {
  /** That a step computes, where it is made of cells. */
  readonly cells?: number;
  /** Brings what was computed onto the canvas. */
  paint(context: CanvasRenderingContext2D): Promise<void>;
  /** Advances by so many steps, or fewer where nothing is left to do, and computes what is to be painted. */
  frame(steps: number): Promise<Frame>;
  draw(stroke: Stroke): Promise<void>;
  /** Back to the beginning. */
  reset(): Promise<void>;
  free(): void;
}

/** Cells for a GPU, threads with shared memory, and one thread. */
export function sizeFor(
  { members: [{ device }] }: DeviceSet,
  sizes: Readonly<Record<"gpu" | "threads" | "thread", readonly [number, number]>>,
): readonly [number, number] {
  if (device.backend === "webgpu") return sizes.gpu;
  return device.backend === "wasm" && device.abilities.parallelism > 1 ? sizes.threads : sizes.thread;
}
