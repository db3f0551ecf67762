import type { Field } from "../domain/grid/grid.js";
import { typedArray } from "../device/memory/view.js";
import type { Activity } from "../domain/grid/activity.js";
import { IsoformError } from "../base/errors.js";
import { cellCount, gridOf, originOf, spacingOf, wholePart, type Geometry, type FieldPart } from "./fields.js";
import { child, type DataArray, type VtkElement, type VtkEncoding } from "./vtk-file.js";
import { joinedCellData, readVtk } from "./vtk-reader.js";
import { writeVtk } from "./vtk-writer.js";

/** Cells by their corners, with values. */
export interface Unstructured {
  /** Coordinates x, y, z of each corner. */
  readonly points: Float64Array;
  /** For each cell the numbers of its corners, 8 of a hexahedron and 4 of a quadrilateral, in VTK's order. */
  readonly corners: Int32Array;
  /** Values of the active cells in (z, y, x) order, components side by side: what `uploadActive` takes. */
  readonly cellData: ReadonlyMap<string, DataArray>;
}

/* Not voxels and pixels, which fewer programs read. */
const HEXAHEDRON = 12;
const QUADRILATERAL = 9;

/**
 * Writes fields of one grid as the cell data of a VTK unstructured grid (.vtu): the active cells as hexahedra, or quadrilaterals in 2D. Several processes
 * write a file each, which an index names (.pvtu).
 * @param options `encoding`: `appended` by default
 * @returns the path of the file to open, which is another one than `path` for an index
 */
export async function writeUnstructured(
  path: string,
  fields: readonly Field[],
  options: Geometry & { encoding?: VtkEncoding } = {},
): Promise<string> {
  const grid = gridOf(fields);
  const { extents, activity, cells } = grid;
  // The most that one process may have to write, for which cells have a number.
  if (cells * 8 > 0x7fffffff) throw new IsoformError(`${path}: ${cells} cells are too many for an unstructured grid; write an image`);
  return writeVtk(path, grid, {
    tag: "UnstructuredGrid",
    ending: ".vtu",
    attributes: {},
    encoding: options.encoding,
    piece: async (part) => {
      const { points, corners } = cornersOf(extents, activity, part ?? wholePart(grid), options);
      const perCell = extents.length === 2 ? 4 : 8;
      const arrays: DataArray[] = [];
      for (const field of fields) arrays.push(await activeOf(field, part));
      const count = corners.length / perCell;
      const offsets = Int32Array.from({ length: count }, (_, n) => (n + 1) * perCell);
      const types = new Uint8Array(count).fill(perCell === 4 ? QUADRILATERAL : HEXAHEDRON);
      return {
        tag: "Piece",
        attributes: { NumberOfPoints: points.length / 3, NumberOfCells: count },
        children: [
          { tag: "Points", arrays: [{ name: "Points", components: 3, data: points }] },
          {
            tag: "Cells",
            arrays: [
              { name: "connectivity", components: 1, data: corners },
              { name: "offsets", components: 1, data: offsets },
              { name: "types", components: 1, data: types },
            ],
          },
          { tag: "CellData", arrays },
        ],
      };
    },
  });
}

/** Reads a file of `writeUnstructured`, or an index with its pieces, whose common corners become one. Throws IsoformError for another. */
export async function readUnstructured(path: string): Promise<Unstructured> {
  const { pieces } = await readVtk(path, "UnstructuredGrid");
  const each = pieces.map((piece) => meshOf(piece, path));
  const counts = each.map(({ cells }) => cells);
  const cellData = joinedCellData(pieces, counts, path);
  if (each.length === 1) return { points: each[0].points, corners: each[0].corners, cellData };
  const order = inOrder(each, path);
  const sorted = [...cellData].map(([name, { components, data }]): [string, DataArray] => {
    const all = data.slice();
    order.forEach((cell, n) => all.set(data.subarray(cell * components, (cell + 1) * components), n * components));
    return [name, { name, components, data: all }];
  });
  return { ...joinedMesh(each, order), cellData: new Map(sorted) };
}

interface Mesh extends Pick<Unstructured, "points" | "corners"> {
  readonly cells: number;
}

function meshOf(piece: VtkElement, path: string): Mesh {
  const array = <T>(tag: string, name: string, kind: new (length: number) => T): T => {
    const found = child(piece, tag, path).arrays?.find((each) => each.name === name)?.data;
    if (!(found instanceof kind))
      throw new IsoformError(`${path}: it lacks an array "${name}" of ${kind.name.replace("Array", "")} in ${tag}`);
    return found;
  };
  const points = array("Points", "Points", Float64Array);
  const corners = array("Cells", "connectivity", Int32Array);
  if (points.length % 3 !== 0 || !corners.every((corner) => corner >= 0 && corner < points.length / 3))
    throw new IsoformError(`${path}: its cells name corners that it lacks`);
  const cells = array("Cells", "offsets", Int32Array).length;
  return { points, corners, cells };
}

/** Corners that lie beside a cell's first one along x, y and z, in VTK's order. */
const BESIDE = [1, 3, 4];

/** Cells of all meshes one after the other, in (z, y, x) order: members that wrote them may have some of the rows of planes. */
function inOrder(each: readonly Mesh[], file: string): Int32Array {
  const places: (readonly number[])[] = [];
  for (const { points, corners, cells } of each) {
    const perCell = cells > 0 ? corners.length / cells : 0;
    if (!Number.isInteger(perCell)) throw new IsoformError(`${file}: its cells have different numbers of corners`);
    for (let cell = 0; cell < cells; cell++) {
      const at = (corner: number, axis: number): number => points[3 * corners[cell * perCell + corner] + axis];
      // Along an axis with a negative spacing coordinates fall.
      const along = (axis: number): number => at(0, axis) * (at(Math.min(BESIDE[axis], perCell - 1), axis) < at(0, axis) ? -1 : 1);
      places.push([along(2), along(1), along(0)]);
    }
  }
  return Int32Array.from(places.keys()).sort((a, b) => {
    const axis = places[a].findIndex((at, n) => at !== places[b][n]);
    return axis < 0 ? 0 : places[a][axis] - places[b][axis];
  });
}

/** Cells in an order. Corners that several meshes have are one, with the number that it got first. */
function joinedMesh(each: readonly Mesh[], order: Int32Array): Pick<Unstructured, "points" | "corners"> {
  const numbers = new Map<string, number>();
  const all: number[] = [];
  const total = each.reduce((sum, { corners }) => sum + corners.length, 0);
  const perCell = order.length > 0 ? total / order.length : 0;
  const corners = new Int32Array(total);
  const starts = each.map(
    (
      (at) => (mesh: Mesh) =>
        (at += mesh.cells) - mesh.cells
    )(0),
  );
  let to = 0;
  for (const cell of order) {
    const mesh = starts.findLastIndex((start) => start <= cell);
    const { points, corners: own } = each[mesh];
    const first = (cell - starts[mesh]) * perCell;
    for (const corner of own.subarray(first, first + perCell)) {
      const at = points.subarray(3 * corner, 3 * corner + 3);
      const key = at.join();
      const known = numbers.get(key) ?? all.push(...at) / 3 - 1;
      numbers.set(key, known);
      corners[to++] = known;
    }
  }
  return { points: Float64Array.from(all), corners };
}

/** Sets a field from values of the active cells in (z, y, x) order, components side by side. */
export function uploadActive(field: Field, values: ArrayLike<number>): void {
  const { grid, cardinality } = field;
  if (values.length !== grid.cells * cardinality)
    throw new IsoformError(
      `field "${field.name}" is given ${values.length} values; it takes ${cardinality} for each of ${grid.cells} active cells`,
    );
  if (!grid.mask) return field.upload(values);
  const all = new Float64Array(field.length);
  let from = 0;
  grid.mask.forEach((active, cell) => {
    if (active) for (let k = 0; k < cardinality; k++) all[cell * cardinality + k] = values[from++];
  });
  field.upload(all);
}

/** The values of the active cells of a part, or of all. */
async function activeOf(field: Field, part?: FieldPart): Promise<DataArray> {
  const { name, cardinality: components, type, grid } = field;
  const { activity, extents } = grid;
  const cells = part ?? wholePart(grid);
  const data = typedArray(type, cellsIn(activity, extents, cells) * components);
  const plane = (cellCount(cells, extents) / (cells.end - cells.first)) * components;
  let to = 0;
  for await (const { first, end, values } of part ? field.boxes(part) : field.wholePlanes())
    for (let n = first; n < end; n++)
      eachRun(activity, extents, cells, n, (from, stop) => {
        const origin = (n - first) * plane;
        data.set(values.subarray(origin + from * components, origin + stop * components), to);
        to += (stop - from) * components;
      });
  return { name, components, data };
}

/** Visits the runs of active cells in the rows that a part has of a plane; they are counted from its first cell there. */
function eachRun(
  activity: Activity,
  [nx]: readonly number[],
  { rows: [low, high] }: FieldPart,
  plane: number,
  visit: (begin: number, end: number) => void,
): void {
  activity.eachRun(plane, (from, stop) => {
    const [begin, end] = [Math.max(from, low * nx), Math.min(stop, high * nx)];
    if (begin < end) visit(begin - low * nx, end - low * nx);
  });
}

/** Active cells of a part. */
function cellsIn(activity: Activity, extents: readonly number[], part: FieldPart): number {
  let count = 0;
  for (let plane = part.first; plane < part.end; plane++)
    eachRun(activity, extents, part, plane, (begin, end) => {
      count += end - begin;
    });
  return count;
}

/** The corners of the active cells of a part, each once. */
function cornersOf(
  extents: readonly number[],
  activity: Activity,
  part: FieldPart,
  geometry: Geometry,
): Pick<Unstructured, "points" | "corners"> {
  const [nx] = extents;
  const flat = extents.length === 2;
  // Cells are counted from the first of the part: planes along the last axis, and rows.
  const planes = part.end - part.first;
  const [ny, nz] = flat ? [planes, 1] : [part.rows[1] - part.rows[0], planes];
  const [origin, spacing] = [originOf(geometry), spacingOf(geometry)];
  const heights = flat ? [0] : [0, 1];
  const ring = [0, 1, nx + 2, nx + 1];
  const around = heights.flatMap((dz) => ring.map((step) => dz * (ny + 1) * (nx + 1) + step));
  const numbers = new Int32Array((nx + 1) * (ny + 1) * (nz + heights.length - 1)).fill(-1);
  const corners = new Int32Array(cellsIn(activity, extents, part) * around.length);
  const used: number[] = [];
  let to = 0;
  for (let plane = part.first; plane < part.end; plane++)
    eachRun(activity, extents, part, plane, (begin, end) => {
      const first = (plane - part.first) * (flat ? nx : nx * ny);
      for (let cell = first + begin; cell < first + end; cell++) {
        const row = Math.floor(cell / nx);
        const base = (Math.floor(row / ny) * (ny + 1) + (row % ny)) * (nx + 1) + (cell % nx);
        for (const step of around) {
          if (numbers[base + step] < 0) numbers[base + step] = used.push(base + step) - 1;
          corners[to++] = numbers[base + step];
        }
      }
    });
  const points = new Float64Array(3 * used.length);
  used.forEach((corner, n) => {
    const at = [corner % (nx + 1), Math.floor(corner / (nx + 1)) % (ny + 1), Math.floor(corner / (nx + 1) / (ny + 1))];
    at[extents.length - 1] += part.first;
    if (!flat) at[1] += part.rows[0];
    at.forEach((i, axis) => (points[3 * n + axis] = origin[axis] + i * spacing[axis]));
  });
  return { points, corners };
}
