import type { HalfType } from "../../ir/scalars.js";
import type { NumberElement } from "../../ir/types.js";
import type { StorageToken } from "../../kernel/declare/storage.js";
import type { Ghosts } from "./ghosts.js";

/** How a grid can store its cells. */
export const GRID_KINDS = ["dense", "sparse", "bricks"] as const;
/** How a grid stores its cells: one of `GRID_KINDS`. */
export type GridKind = (typeof GRID_KINDS)[number];

/** Axes along which a grid can be cut. */
export const SPLITS = ["z", "y", "yz", "auto"] as const;
/** The axes along which a grid is cut; `auto` takes what a model of the time of a step finds best. */
export type Split = (typeof SPLITS)[number];

/** Types that a field may store. */
export type FieldType = Exclude<NumberElement, "u32">;
/** How a field can lay out its components. */
export const FIELD_LAYOUTS = ["soa", "aos"] as const;
/** Structure of arrays: all cells of component 0, then of component 1; array of structures: all components of a cell side by side. */
export type FieldLayout = (typeof FIELD_LAYOUTS)[number];
/** `f64`, `f32`, `i32`, or a type that arrays only store, such as `u8`. */
export interface FieldToken<T extends FieldType = FieldType> {
  readonly type: T;
}

/** Options of `grid.field`. */
export interface FieldOptions<C extends number = number> {
  /** Components of a cell. Default: 1. */
  cardinality?: C;
  /** Default: the grid's layout. */
  layout?: FieldLayout;
  /** Value that reads of neighbours give beyond the domain and in inactive cells. Default: 0. */
  fillValue?: number;
  /** Power of two by which a field of f16 or bf16 multiplies what is stored. Default: 1. */
  scale?: number;
}

/** Options of `grid.field` for a field whose values are f32 and which is stored in 16 bits, `f16` or `bf16`: rounded to nearest, ties to even. */
export interface StoredFieldOptions<S extends HalfType = HalfType, C extends number = number> extends FieldOptions<C> {
  storage: StorageToken<S>;
}

/** Options of grids of every kind. */
export interface GridOptions {
  /** Cells that belong to the domain. Default: the whole box. Bytes in (z, y, x) order, or a predicate of global coordinates. */
  active?: ((x: number, y: number, z: number) => boolean) | Uint8Array;
  /** The layout of fields that ask for none. Default: `soa`. */
  layout?: FieldLayout;
  /** Periodic axes: beyond the last cell comes the first. A boolean for all axes, or one for each of x, y (and z). Default: none. */
  periodic?: boolean | readonly boolean[];
}

/** Options of grids that have coarser ones. */
export interface LevelOptions extends GridOptions {
  /** How often the grid can be coarsened: partitions begin at multiples of 2 ** levels planes, and of 8 times as many rows where it is cut along y. Default: 0. */
  levels?: number;
}

/** Options of `dense`. */
export interface DenseOptions extends LevelOptions {
  /**
   * Rows of cells follow each other in memory without room for fill values, which containers then ask for by their place. By default
   * so on GPUs, where a row fills cache lines and its padding would begin another one.
   */
  packed?: boolean;
  /**
   * Axes along which a box of three dimensions is cut among members: `"z"`, by planes; `"y"`, by rows, at multiples of 8; `"yz"`, both; `"auto"`, whichever a model
   * finds best. Rows along x stay whole. Default: `"z"`.
   */
  split?: Split;
  /** Layers of cells beyond the sides that are not periodic, which hold values of their own: on all of these, or by side. Default: none. */
  ghosts?: Ghosts;
}
