import { Field, type Grid, type HostArrayOptions } from "../domain/grid/grid.js";
import { HOST_LIMITS, piecesOf, type Planes } from "../domain/grid/pieces.js";
import { cutsRows } from "../domain/grid/split.js";
import { BYTES, type TypedArray } from "../device/memory/view.js";
import { describe } from "../ir/describe.js";
import { IsoformError } from "../ir/errors.js";
import { spansProcesses } from "../set/index.js";
import type { ArraySource, DataArray } from "./vtk-file.js";

/** Place of the grid: the corner of cell (0, 0, 0), and the size of a cell. */
export interface Geometry {
  /** Default: [0, 0, 0]. */
  readonly origin?: readonly number[];
  /** Default: [1, 1, 1]. */
  readonly spacing?: readonly number[];
}

/** Places of cells of any widths. */
export interface Faces {
  /** Faces along each axis, x first: the start of each cell, and the end of the last one. */
  readonly faces: readonly ArrayLike<number>[];
}

/** The faces of a box. Throws IsoformError if they do not fit its cells. */
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

/** Cell data that hides inactive cells of some planes; none where all of the grid are active. */
export function hiddenCells({ activity }: Field["grid"], planes?: Planes): ArraySource[] {
  const all = planes ?? { first: 0, end: activity.planes.length };
  const hidden = ({ first, end }: Planes): Uint8Array => activity.bytes(first, end).map((active) => (active ? 0 : HIDDEN));
  function* pieces(): Generator<Uint8Array> {
    for (const piece of piecesOf(all, activity.planeSize)) yield hidden(piece);
  }
  return activity.isFull ? [] : [{ name: GHOSTS, components: 1, type: "u8", length: (all.end - all.first) * activity.planeSize, pieces }];
}

export const withoutHidden = (cellData: ReadonlyMap<string, DataArray>): ReadonlyMap<string, DataArray> =>
  new Map([...cellData].filter(([name]) => name !== GHOSTS));

export const originOf = ({ origin = [] }: Geometry): number[] => [0, 1, 2].map((axis) => origin[axis] ?? 0);
export const spacingOf = ({ spacing = [] }: Geometry): number[] => [0, 1, 2].map((axis) => spacing[axis] ?? 1);

/** The grid that all fields share. Throws IsoformError if they do not share one. */
export function gridOf(fields: readonly Field[]): Field["grid"] {
  if (!Array.isArray(fields) || !fields.every((field) => field instanceof Field))
    throw new IsoformError(`${describe(fields)} cannot be written: give a list of fields of one grid`);
  if (fields.length === 0) throw new IsoformError("no fields to write: give at least one");
  const other = fields.find(({ grid }) => grid !== fields[0].grid);
  if (other) throw new IsoformError(`fields "${fields[0].name}" and "${other.name}" are of different grids: write a file for each grid`);
  return fields[0].grid;
}

/** A field's host array, components side by side. */
export async function arrayOf(field: Field): Promise<DataArray> {
  return { name: field.name, components: field.cardinality, data: await field.download() };
}

/** Values of a field, some planes at a time, components side by side; all of them in each process of the set, which ask alike. */
export async function* planeValues(field: Field, options?: HostArrayOptions): AsyncGenerator<TypedArray> {
  for await (const { values } of field.wholePlanes(options)) yield values;
}

/** The same of the planes that members of this process own. */
export async function* ownPlaneValues(field: Field, options?: HostArrayOptions): AsyncGenerator<TypedArray> {
  for await (const { values } of field.planes(options)) yield values;
}

/** Whether several processes have a grid, each whole planes; where they have some of the rows of planes, files are rank 0's. */
export const isInPlanes = (grid: Pick<Grid, "set" | "dimension" | "cutAxes">): boolean => spansProcesses(grid.set) && !cutsRows(grid);

/** The planes of a field that members of this process own. */
export function ownPlanes(field: Field, ghosts = false): Planes {
  const pieces = field.grid.ownPieces(field, ghosts);
  return { first: pieces[0].first, end: pieces.at(-1)!.end };
}

/** The planes in which members of this process own cells. */
export function takenPlanes(field: Field, ghosts = false): Planes {
  const pieces = field.grid.takenPieces(field, ghosts);
  return { first: pieces[0].first, end: pieces.at(-1)!.end };
}

/** The extent of cells, or of some planes, as VTK has it: the first and the last point along x, y and z. */
export function extentText(extents: readonly number[], planes?: Planes): string {
  const last = extents.length - 1;
  return [0, 1, 2].map((axis) => (axis === last && planes ? `${planes.first} ${planes.end}` : `0 ${extents[axis] ?? 0}`)).join(" ");
}

async function collected<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/**
 * Host arrays of fields to be written. What is not large is read at once, so that work that is submitted later does not show in it; of the rest, some
 * planes are read when their turn comes.
 * @param own whether they have the planes of this process only, or all, which all processes of the set then ask for alike
 */
export async function sourcesOf(fields: readonly Field[], own = false): Promise<ArraySource[]> {
  const lengthOf = (field: Field): number => {
    if (!own) return field.length;
    const { first, end } = ownPlanes(field);
    return (end - first) * field.grid.planeLength(field);
  };
  const valuesOf = own ? ownPlaneValues : planeValues;
  const bytes = fields.reduce((sum, field) => sum + lengthOf(field) * BYTES[field.type], 0);
  const readNow = async (field: Field): Promise<TypedArray[]> => (own ? collected(ownPlaneValues(field)) : [await field.download()]);
  const read = bytes <= HOST_LIMITS.piece ? await Promise.all(fields.map(readNow)) : undefined;
  return fields.map((field, n) => {
    const { name, cardinality: components, type } = field;
    return { name, components, type, length: lengthOf(field), pieces: () => (read ? read[n] : valuesOf(field)) };
  });
}
