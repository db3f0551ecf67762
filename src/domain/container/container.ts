import type { View } from "../../device/memory/view.js";
import type { KernelIR, Location, NumericType, ReduceOp } from "../../ir/types.js";
import type { Cell, Dimension, FieldAccess } from "../../kernel/cells.js";
import type { ArrayType, BodyParam, Helper, ReduceIntoToken, TableToken } from "../../kernel/params.js";
import type { Scalar } from "../../set/scalar.js";
import type { Field, FieldType } from "../grid/field.js";
import type { Grid } from "../grid/grid.js";
import type { CellTeams, OverTeams } from "../particles/over-teams.js";
import type { Species } from "../particles/species.js";

/** `sum(scalar)`, `min(scalar)`, `max(scalar)`: a reduction whose result goes into the scalar. */
export type ScalarReduction<T extends NumericType = NumericType, O extends ReduceOp = ReduceOp> = ReduceIntoToken<Scalar<T>, O>;

/** What a container may declare: fields, scalars (read as numbers), reductions into scalars, numbers and truth values, tables, helpers, types of private arrays. */
export type ContainerParam = Field | Scalar | ScalarReduction | TableToken | Helper | ArrayType | number | boolean;
export type ContainerParams = Record<string, ContainerParam>;

type ContainerBodyParam<P> =
  P extends Field<FieldType, infer C, infer D>
    ? FieldAccess<C, D>
    : P extends Scalar | number
      ? number
      : P extends boolean
        ? boolean
        : BodyParam<P>;

/** A container as written: it runs once for each active cell, in any order and in parallel, and writes where no other cell reads or writes. */
export type ContainerBody<P extends ContainerParams, D extends Dimension = Dimension> = (
  params: { [K in keyof P]: ContainerBodyParam<P[K]> },
  c: Cell<D>,
) => void;

/** How a container uses one of its fields. */
export interface FieldUse {
  readonly param: string;
  readonly field: Field;
  readonly read: boolean;
  readonly written: boolean;
  /** Distinct neighbour offsets [dx, dy, dz] that are read, the own cell excluded; for fields of other grids, all offsets of `child` or `parent`. */
  readonly offsets: readonly (readonly number[])[];
  /** Distinct neighbour offsets that are written; absent for none. Each component is touched at one offset only. */
  readonly spread?: readonly (readonly number[])[];
  /** The field lies on the container's grid, on that of half (`child`) or of twice the cell size (`parent`). */
  readonly level: "own" | "child" | "parent";
}

/** An array of each member's own. */
export interface MemberArray {
  readonly name: string;
  readonly views: readonly View[];
}

/** How a container uses an array of each member. */
export interface ArrayUse {
  readonly array: MemberArray;
  readonly read: boolean;
  readonly written: boolean;
}

/** Of a container that runs for each particle of each cell. */
export interface ParticlesUse {
  readonly species: Species;
  /** What it does depends on the cells in which the particles are. */
  readonly placed: boolean;
  /** It changes their positions. */
  readonly moves: boolean;
  /** Lanes that share out the particles of a cell on a GPU; 1 where there are few. */
  lanes(): number;
  /** The kernel over a box, as one over teams of cells; undefined where there is none. */
  overTeams(ir: KernelIR, cells: CellTeams): OverTeams | undefined;
}

export interface Container {
  readonly name: string;
  readonly grid: Grid;
  /** Where it was declared. */
  readonly location: Location;
  /** Independent of the grid's kind: every field as one global dense array `[z][y][x][k]`, the body over (z, y, x); docs/domain.md. */
  readonly ir: KernelIR;
  /** The fields that the code touches. */
  readonly uses: readonly FieldUse[];
  /** Scalars that it reads, by parameter. */
  readonly scalars: ReadonlyMap<string, Scalar>;
  /** Scalars that take results, by reduce parameter. */
  readonly reductions: ReadonlyMap<string, Scalar>;
  /** Plain numbers and truth values, by scalar parameter. */
  readonly values: ReadonlyMap<string, number | boolean>;
  /** The view parameter of the mask that `isActive` reads, and the offsets at which it is read, the own cell excluded. */
  readonly mask?: { readonly param: string; readonly offsets: readonly (readonly number[])[] };
  /** Columns of particles and other arrays of each member, by view parameter. */
  readonly arrays?: ReadonlyMap<string, ArrayUse>;
  readonly particles?: ParticlesUse;
  /** It reads other cells than its own. */
  readonly stencil: boolean;
  readonly reduces: boolean;
}
