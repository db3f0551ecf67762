import type { ElementType, NumericType } from "../../ir/types.js";

/*
 * Types of the cell and the fields in a container's body. They let the editor check the use of fields by their cardinality and
 * of offsets by the grid's dimension.
 */

/** The number of a grid's axes. */
export type Dimension = 2 | 3;

/** The cell for which the body runs. Its integer coordinates are global. It is a symbol to the editor, so that only cells index fields. */
export type Cell<D extends Dimension = Dimension> = symbol & {
  readonly x: number;
  readonly y: number;
  /**
   * In a container that is declared to march: `step` for this cell and the cells after it along the axis, one by one. The values that it leaves in
   * the body's variables must equal the ones that the body gives them before it marches, at the next cell: the grid chooses where marches begin.
   */
  march(step: (cell: Cell<D>) => void): void;
} & ([D] extends [2] ? unknown : { readonly z: number });

/** Whole numbers, constant once loops are unrolled. */
type Offset<D extends Dimension> = [D] extends [2]
  ? [dx: number, dy: number]
  : [D] extends [3]
    ? [dx: number, dy: number, dz: number]
    : [dx: number, dy: number, dz?: number];

/** The values of a field in one cell. */
export interface Components {
  [k: number]: number;
  readonly length: number;
}

/** How a body reaches around its cell; V is what one cell holds for reading, W what a neighbour holds. */
interface Neighbourhood<V, D extends Dimension, W = V> {
  /**
   * The cell at an offset, or the ghost; outside of the grid and in inactive cells, the field's fill value. Components may be written there by
   * containers that touch each component of the field at one offset only, where what is written without an active cell is lost, and in ghosts by
   * those on a face.
   */
  at(c: Cell<D>, ...offset: Offset<D>): W;
  /** True where the cell itself, or that at an offset, is an active cell of the grid. */
  isActive(c: Cell<D>, ...offset: Offset<D> | []): boolean;
  /** For a field of the grid of half the cell size: the cell (2x + ox, 2y + oy, 2z + oz). */
  fine(c: Cell<D>, ...offset: Offset<D>): V;
  /** For a field of the grid of twice the cell size: the cell ((x >> 1) + ox, (y >> 1) + oy, (z >> 1) + oz). */
  coarse(c: Cell<D>, ...offset: Offset<D>): V;
}

/** A field in a body: `p[c]` is a number where the cardinality is 1, else `u[c][k]` is. */
export type FieldAccess<C extends number, D extends Dimension> = [C] extends [1]
  ? { [cell: symbol]: number } & Neighbourhood<number, D> & {
        /** Writes the cell at an offset: a ghost, from a container on a face. */
        put(c: Cell<D>, ...args: [...offset: Required<Offset<D>>, value: number]): void;
      }
  : { [cell: symbol]: Components } & Neighbourhood<Readonly<Components>, D, Components>;

/**
 * Values along some axes, in a body: `m[c]` is the value at the cell's coordinates, `m.at(c, d)` the one `d` coordinates further; with several
 * components `m[c][k]`, `m.at(c, d)[k]`. Distances are one for each axis, x first.
 */
export interface AxisAccess<C extends number = 1, N extends number = 1> {
  readonly [cell: symbol]: AxisValue<C>;
  at<D extends Dimension>(c: Cell<D>, ...d: [N] extends [1] ? [d: number] : number[]): AxisValue<C>;
}
type AxisValue<C extends number> = [C] extends [1] ? number : Readonly<Components>;

/** Reduction of a body into values along axes: component `k`, or the only one. */
export type AxisReduction<C extends number, M extends string> = Record<
  M,
  [C] extends [1] ? (value: number) => void : (k: number, value: number) => void
>;

/** An array along axes, as the front end knows it; axis 0 is x, and `ghosts` values come before coordinate 0 of each. */
export interface AxisToken {
  readonly kind: "axis";
  readonly element: ElementType;
  /** In rising order. */
  readonly axes: readonly number[];
  readonly cardinality: number;
  readonly ghosts: number;
}

/** Grid of a field: the container's, the one of half the cell size (read by `fine`), or of twice the cell size (by `coarse`). */
export type Level = "own" | "fine" | "coarse";

/** A field, as the front end knows it. */
export interface FieldParamToken {
  readonly kind: "field";
  readonly element: ElementType;
  readonly cardinality: number;
  readonly level: Level;
  /** Power of two by which what is stored is multiplied. */
  readonly scale?: number;
  /** Another parameter that is the same field. */
  readonly same?: string;
}

/** A particle of the cell for which the body runs. It is a symbol to the editor, so that nothing but it indexes columns. */
export type Particle = symbol & { readonly particle: true };

/** Columns of particles in a body: `x[p]` is a number where they have one component, else `v[p][k]` is. */
export type ColumnAccess<C extends number> = { [particle: symbol]: [C] extends [1] ? number : Components };

/** Addition of a body to a field of its grid: to component `k` of the cell at an offset, or to the only one. */
export type DepositAccess<C extends number, D extends Dimension> = [C] extends [1]
  ? { add(c: Cell<D>, ...args: [...offset: Required<Offset<D>>, value: number]): void }
  : { add(c: Cell<D>, ...args: [...offset: Required<Offset<D>>, k: number, value: number]): void };

/** A field that particles add to, as the front end knows it. */
export interface DepositToken {
  readonly kind: "deposit";
  readonly element: NumericType;
  readonly cardinality: number;
}

/** The particles of a cell: the first one's place in the columns, and how many there are, in fields of these names. */
export interface ParticleLists {
  readonly first: string;
  readonly count: string;
}

/** A number that lives on the device. */
export interface ResidentToken {
  readonly kind: "resident";
  readonly type: NumericType;
}
