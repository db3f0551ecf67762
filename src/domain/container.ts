import type { ElementType, KernelIR, Location, NumericType, ReduceOp } from "../ir/types.js";
import type { Cell, Dimension, FieldAccess } from "../kernel/cells.js";
import type { BodyParam, Helper, ReduceToken, TableToken } from "../kernel/params.js";

/** What a container needs to know of a grid. */
export interface GridShape<D extends Dimension = Dimension> {
  readonly dimension: D;
  /** Cells along x, y and z. */
  readonly extents: readonly number[];
  /** The grid of twice the cell size that this one refines, if it was made as its refinement. */
  readonly parent?: GridShape<D>;
}

/** What a container needs to know of a field. */
export interface FieldShape<T extends ElementType = ElementType, C extends number = number, D extends Dimension = Dimension> {
  readonly name: string;
  readonly type: T;
  readonly cardinality: C;
  readonly grid: GridShape<D>;
}

/** What a container needs to know of a device-resident scalar. */
export interface ScalarShape<T extends NumericType = NumericType> {
  readonly name: string;
  readonly type: T;
  /** One copy on each device. */
  readonly views: readonly unknown[];
}

/** `sum(scalar)`, `min(scalar)`, `max(scalar)`: a reduction whose result goes into the scalar. */
export interface ScalarReduction<S extends ScalarShape = ScalarShape, O extends ReduceOp = ReduceOp> extends ReduceToken<S["type"], O> {
  readonly scalar: S;
}

/** What a container may declare: fields, scalars (read as numbers), reductions into scalars, numbers and truth values, tables, helpers. */
export type ContainerParam = FieldShape | ScalarShape | ScalarReduction | TableToken | Helper | number | boolean;
export type ContainerParams = Record<string, ContainerParam>;

type ContainerBodyParam<P> =
  P extends FieldShape<ElementType, infer C, infer D>
    ? FieldAccess<C, D>
    : P extends ScalarShape
      ? number
      : P extends number
        ? number
        : P extends boolean
          ? boolean
          : BodyParam<P>;

/** A container as written: it runs once for each active cell, in any order and in parallel, and writes its own cell only. */
export type ContainerBody<P extends ContainerParams, D extends Dimension = Dimension> = (
  params: { [K in keyof P]: ContainerBodyParam<P[K]> },
  c: Cell<D>,
) => void;

/** How a container uses one of its fields. */
export interface FieldUse {
  readonly param: string;
  readonly field: FieldShape;
  readonly read: boolean;
  readonly written: boolean;
  /** Distinct neighbour offsets [dx, dy, dz] that are read, the own cell excluded; those of `child` and `parent` for fields of other grids. */
  readonly offsets: readonly (readonly number[])[];
  /** The field lies on the container's grid, on that of half (`child`) or of twice the cell size (`parent`). */
  readonly level: "own" | "child" | "parent";
}

export interface Container {
  readonly name: string;
  readonly grid: GridShape;
  /** Where it was declared. */
  readonly location: Location;
  /** Independent of the grid's kind: every field as one global dense array `[z][y][x][k]`, the body over (z, y, x); docs/domain.md. */
  readonly ir: KernelIR;
  readonly uses: readonly FieldUse[];
  /** Scalars that it reads, by parameter. */
  readonly scalars: ReadonlyMap<string, ScalarShape>;
  /** Scalars that take results, by reduce parameter. */
  readonly reductions: ReadonlyMap<string, ScalarShape>;
  /** Plain numbers and truth values, by scalar parameter. */
  readonly values: ReadonlyMap<string, number | boolean>;
  /** The view parameter of the mask that `isActive` reads, and the offsets at which it is read (the own cell included). */
  readonly mask?: { readonly param: string; readonly offsets: readonly (readonly number[])[] };
  /** It reads neighbours. */
  readonly stencil: boolean;
  readonly reduces: boolean;
}
