import type { DenseGrid, Field } from "isoform/grid";

/** Appearance of a field: the colour of a value is number `zero + scale * value` of the list, whose ends stand for all beyond them. */
export interface Look<R extends 2 | 3 = 2 | 3> {
  /** In three dimensions of one layer. */
  readonly grid: DenseGrid<R>;
  readonly values: Field<"f32", 1, R>;
  readonly zero: number;
  readonly scale: number;
  /** Pixels in the byte order of a canvas. */
  readonly colours: readonly number[];
}

/** A field on a canvas. */
export interface Picture {
  /** Brings the values as they are in the device's queue onto the canvas; resolves when they are there. */
  paint(): Promise<void>;
  free(): void;
}
