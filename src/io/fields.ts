import { Field } from "../domain/grid/grid.js";
import { describe } from "../ir/describe.js";
import { IsoformError } from "../ir/errors.js";
import type { DataArray } from "./vtk-file.js";

/** Where the grid lies: the corner of cell (0, 0, 0), and the size of a cell. */
export interface Geometry {
  /** Default: [0, 0, 0]. */
  readonly origin?: readonly number[];
  /** Default: [1, 1, 1]. */
  readonly spacing?: readonly number[];
}

/** Where the cells of a box of any widths lie. */
export interface Faces {
  /** By axis, x first: where each cell begins, and where the last one ends. */
  readonly faces: readonly ArrayLike<number>[];
}

/** The faces of a box. Throws IsoformError where they do not fit its cells. */
export function facesOf({ faces }: Faces, extents: readonly number[]): Float64Array[] {
  return extents.map((cells, axis) => {
    const values = Float64Array.from(faces[axis] ?? []);
    const name = "xyz"[axis];
    if (values.length !== cells + 1)
      throw new IsoformError(
        `${values.length} faces along ${name} for ${cells} cells: give ${cells + 1}, where cells begin and the last one ends`,
      );
    const wrong = values.findIndex((value, n) => !Number.isFinite(value) || (n > 0 && value <= values[n - 1]));
    if (wrong >= 0) throw new IsoformError(`face ${wrong} along ${name} is at ${values[wrong]}: give finite coordinates that rise`);
    return values;
  });
}

/** Cells that are not shown. */
const GHOSTS = "vtkGhostType";
const HIDDEN = 32;

/** Cell data that hides inactive cells; none where all are active. */
export const hiddenCells = ({ mask }: Field["grid"]): DataArray[] =>
  mask ? [{ name: GHOSTS, components: 1, data: mask.map((active) => (active ? 0 : HIDDEN)) }] : [];

export const withoutHidden = (cellData: ReadonlyMap<string, DataArray>): ReadonlyMap<string, DataArray> =>
  new Map([...cellData].filter(([name]) => name !== GHOSTS));

export const originOf = ({ origin = [] }: Geometry): number[] => [0, 1, 2].map((axis) => origin[axis] ?? 0);
export const spacingOf = ({ spacing = [] }: Geometry): number[] => [0, 1, 2].map((axis) => spacing[axis] ?? 1);

/** The one grid of some fields. Throws IsoformError where there is none. */
export function gridOf(fields: readonly Field[]): Field["grid"] {
  if (!Array.isArray(fields) || !fields.every((field) => field instanceof Field))
    throw new IsoformError(`${describe(fields)} is given to write: give a list of fields of one grid`);
  if (fields.length === 0) throw new IsoformError("no fields to write: give at least one");
  const other = fields.find(({ grid }) => grid !== fields[0].grid);
  if (other) throw new IsoformError(`fields "${fields[0].name}" and "${other.name}" are of different grids: write a file for each grid`);
  return fields[0].grid;
}

/** A field's host array, components side by side. */
export async function arrayOf(field: Field): Promise<DataArray> {
  return { name: field.name, components: field.cardinality, data: await field.download() };
}
