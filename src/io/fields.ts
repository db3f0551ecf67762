import { Field, type BoxOptions, type HostArrayOptions } from "../domain/grid/grid.js";
import type { Span } from "../domain/grid/parts.js";
import { HOST_LIMITS, evenPlaneRuns, type Planes } from "../domain/grid/pieces.js";
import { cutsRows } from "../domain/grid/split.js";
import { BYTES, type TypedArray } from "../device/memory/view.js";
import { hostType } from "../ir/scalars.js";
import { describe } from "../base/describe.js";
import { IsoformError } from "../base/errors.js";
import { joined, type FileBlock } from "./blocks.js";
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
export function faceCoordinates({ faces }: Faces, extents: readonly number[]): Float64Array[] {
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

/** Cells that go to a file: some planes, some rows of them along y ([0, 1) in two dimensions), and the members of this process that own them. */
export interface FieldPart extends Planes {
  readonly rows: Span;
  readonly members: readonly number[];
}

/** The parts of a grid that this process writes: its planes, or where it has some of their rows, the box of each member. */
export function ownParts(grid: Field["grid"]): FieldPart[] {
  const { set, partitions, extents, dimension } = grid;
  const rows: Span = [0, dimension === 3 ? extents[1] : 1];
  const each = set.locals.map(({ index }): FieldPart => {
    const { first, planes, rows: own = rows } = partitions[index];
    return { first, end: first + planes, rows: dimension === 3 ? own : rows, members: [index] };
  });
  if (cutsRows(grid)) return each;
  return [{ first: each[0].first, end: each.at(-1)!.end, rows, members: each.flatMap(({ members }) => members) }];
}

/** All cells of a grid, of all members. */
export const wholePart = ({ extents, dimension }: Field["grid"]): FieldPart => ({
  first: 0,
  end: extents.at(-1)!,
  rows: [0, dimension === 3 ? extents[1] : 1],
  members: [],
});

/** Cells of a part. */
export const cellCount = ({ first, end, rows: [low, high] }: FieldPart, [nx]: readonly number[]): number =>
  (end - first) * (high - low) * nx;

/** Cell data that hides inactive cells of a part; none where all of the grid are active. */
export function hiddenCells({ activity, extents }: Field["grid"], part: FieldPart): ArraySource[] {
  const [low, high] = part.rows.map((row) => row * extents[0]);
  function* pieces(): Generator<Uint8Array> {
    for (const { first, end } of evenPlaneRuns(part, activity.planeSize)) {
      const hidden = activity.bytes(first, end).map((active) => (active ? 0 : HIDDEN));
      if (high - low === activity.planeSize) yield hidden;
      else for (let at = 0; at < hidden.length; at += activity.planeSize) yield hidden.subarray(at + low, at + high);
    }
  }
  return activity.isFull ? [] : [{ name: GHOSTS, components: 1, type: "u8", length: cellCount(part, extents), pieces }];
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
export async function hostArrayOf(field: Field): Promise<DataArray> {
  return { name: field.name, components: field.cardinality, data: await field.download() };
}

/** Values of a field, some planes at a time, components side by side; all of them in each process of the set, which ask alike. */
export async function* planeValues(field: Field, options?: HostArrayOptions): AsyncGenerator<TypedArray> {
  for await (const { values } of field.wholePlanes(options)) yield values;
}

/** The values of the cells that members of this process own, box after box. */
export async function* boxValues(field: Field, options?: BoxOptions): AsyncGenerator<TypedArray> {
  for await (const { values } of field.boxes(options)) yield values;
}

/** Values of a row and of a plane of a field's host array, and layers of ghosts in front of planes and rows. */
function layoutOf({ grid, cardinality }: Field, ghosts: boolean): { row: number; plane: number; before: readonly number[] } {
  const margins = ghosts ? grid.ghosts : grid.extents.map(() => [0, 0]);
  const along = grid.extents.map((cells, axis) => cells + margins[axis][0] + margins[axis][1]);
  const row = cardinality * along[0];
  return { row, plane: along.slice(1, -1).reduce((product, n) => product * n, row), before: margins.map(([low]) => low) };
}

/** Places of these values in a host array of the whole box, with `ghosts` of all of it and its ghosts. */
export function ownBlocks(field: Field, ghosts = false): FileBlock[] {
  const { row, plane, before } = layoutOf(field, ghosts);
  const inPlane = (rows: number): number => (field.grid.dimension === 3 ? (rows + before[1]) * row : 0);
  const boxes = field.grid.ownBoxes(field, ghosts);
  return joined(
    boxes.map(({ first, end, rows: [low, high] }): FileBlock => [
      (first + before.at(-1)!) * plane + inPlane(low),
      (high - low) * row,
      end - first,
      plane,
    ]),
  );
}

/** The rows of all planes in which members of this process own cells, in the same way; undefined for all rows. */
export function ownRows(field: Field, ghosts = false): FileBlock | undefined {
  const { grid } = field;
  if (!cutsRows(grid)) return undefined;
  const { row, plane, before } = layoutOf(field, ghosts);
  const rows = grid.ownBoxes(field, ghosts).map((box) => box.rows);
  const [low, high] = [Math.min(...rows.map(([first]) => first)), Math.max(...rows.map(([, end]) => end))];
  const planes = grid.extents[2] + (ghosts ? grid.ghosts[2][0] + grid.ghosts[2][1] : 0);
  return [(low + before[1]) * row, (high - low) * row, planes, plane];
}

/** The planes in which members of this process own cells. */
export function takenPlanes(field: Field, ghosts = false): Planes {
  const pieces = field.grid.takenPieces(field, ghosts);
  return { first: pieces[0].first, end: pieces.at(-1)!.end };
}

/** The cells of a part along an axis, or without one all; [0, 0] where the grid has no such axis. */
export function spanOf(extents: readonly number[], axis: number, part?: FieldPart): Span {
  if (part && axis === extents.length - 1) return [part.first, part.end];
  return part && axis === 1 ? part.rows : [0, extents[axis] ?? 0];
}

/** The extent of cells, or of a part of them, as VTK has it: the first and the last point along x, y and z. */
export const extentText = (extents: readonly number[], part?: FieldPart): string =>
  [0, 1, 2].flatMap((axis) => spanOf(extents, axis, part)).join(" ");

async function collected<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/**
 * Host arrays of fields to be written. What is not large is read at once, so that work that is submitted later does not show in it; of the rest, some
 * planes are read when their turn comes.
 * @param part the cells of this process that they have; by default all cells, which all processes of the set then ask for alike
 */
export async function sourcesOf(fields: readonly Field[], part?: FieldPart): Promise<ArraySource[]> {
  const lengthOf = (field: Field): number => (part ? field.cardinality * cellCount(part, field.grid.extents) : field.length);
  const valuesOf = (field: Field): AsyncGenerator<TypedArray> => (part ? boxValues(field, part) : planeValues(field));
  const bytes = fields.reduce((sum, field) => sum + lengthOf(field) * BYTES[hostType(field.type)], 0);
  const readNow = async (field: Field): Promise<TypedArray[]> => (part ? collected(valuesOf(field)) : [await field.download()]);
  const read = bytes <= HOST_LIMITS.piece ? await Promise.all(fields.map(readNow)) : undefined;
  return fields.map((field, n) => {
    const { name, cardinality: components } = field;
    return { name, components, type: hostType(field.type), length: lengthOf(field), pieces: () => (read ? read[n] : valuesOf(field)) };
  });
}
