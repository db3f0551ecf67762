import type { Field } from "../domain/grid/grid.js";
import { IsoformError } from "../ir/errors.js";
import type { DataArray } from "./vtk-file.js";

/** Where the grid lies: the corner of cell (0, 0, 0), and the size of a cell. */
export interface Geometry {
  /** [0, 0, 0] where absent. */
  readonly origin?: readonly number[];
  /** [1, 1, 1] where absent. */
  readonly spacing?: readonly number[];
}

export const originOf = ({ origin = [] }: Geometry): number[] => [0, 1, 2].map((axis) => origin[axis] ?? 0);
export const spacingOf = ({ spacing = [] }: Geometry): number[] => [0, 1, 2].map((axis) => spacing[axis] ?? 1);

/** The one grid of some fields. Throws IsoformError where there is none. */
export function gridOf(fields: readonly Field[]): Field["grid"] {
  if (fields.length === 0) throw new IsoformError("no fields to write: give at least one");
  const other = fields.find(({ grid }) => grid !== fields[0].grid);
  if (other) throw new IsoformError(`fields "${fields[0].name}" and "${other.name}" are of different grids: write a file for each grid`);
  return fields[0].grid;
}

/** A field's host array, components side by side. */
export async function arrayOf(field: Field): Promise<DataArray> {
  return { name: field.name, components: field.cardinality, data: await field.download() };
}
