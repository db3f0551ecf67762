import type { Field } from "../domain/grid/grid.js";
import { typedArray } from "../device/memory/view.js";
import type { Activity } from "../domain/grid/activity.js";
import type { Planes } from "../domain/grid/pieces.js";
import { IsoformError } from "../ir/errors.js";
import { gridOf, originOf, ownPlanes, spacingOf, type Geometry } from "./fields.js";
import { child, type DataArray, type Element, type VtkEncoding } from "./vtk-file.js";
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
    piece: async (own) => {
      const planes = own ? ownPlanes(fields[0]) : { first: 0, end: activity.planes.length };
      const { points, corners } = cornersOf(extents, activity, planes, options);
      const perCell = extents.length === 2 ? 4 : 8;
      const arrays: DataArray[] = [];
      for (const field of fields) arrays.push(await activeOf(field, own));
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
  const cellData = joinedCellData(
    pieces,
    each.map(({ cells }) => cells),
    path,
  );
  return each.length === 1 ? { points: each[0].points, corners: each[0].corners, cellData } : { ...joinedMesh(each), cellData };
}

interface Mesh extends Pick<Unstructured, "points" | "corners"> {
  readonly cells: number;
}

function meshOf(piece: Element, path: string): Mesh {
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
  return { points, corners, cells: array("Cells", "offsets", Int32Array).length };
}

/** Corners that several pieces have are one, with the number that it got first. */
function joinedMesh(each: readonly Mesh[]): Pick<Unstructured, "points" | "corners"> {
  const numbers = new Map<string, number>();
  const all: number[] = [];
  const corners = new Int32Array(each.reduce((sum, mesh) => sum + mesh.corners.length, 0));
  let to = 0;
  for (const { points, corners: own } of each) {
    const numberOf = (corner: number): number => {
      const at = points.subarray(3 * corner, 3 * corner + 3);
      const found = numbers.get(at.join()) ?? all.push(...at) / 3 - 1;
      numbers.set(at.join(), found);
      return found;
    };
    const known = Int32Array.from({ length: points.length / 3 }, (_, corner) => numberOf(corner));
    for (const corner of own) corners[to++] = known[corner];
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

/** The values of the active cells, of all or of the members of this process. */
async function activeOf(field: Field, own: boolean): Promise<DataArray> {
  const { name, cardinality: components, type, grid } = field;
  const { activity, cells } = grid;
  const count = own ? cellsIn(activity, ownPlanes(field)) : cells;
  const data = typedArray(type, count * components);
  const plane = activity.planeSize * components;
  let to = 0;
  for await (const { first, end, values } of own ? field.planes() : field.wholePlanes())
    for (let n = first; n < end; n++)
      activity.eachRun(n, (from, stop) => {
        const origin = (n - first) * plane;
        data.set(values.subarray(origin + from * components, origin + stop * components), to);
        to += (stop - from) * components;
      });
  return { name, components, data };
}

/** The corners of the active cells of some planes, each once. */
function cornersOf(
  extents: readonly number[],
  activity: Activity,
  planes: Planes,
  geometry: Geometry,
): Pick<Unstructured, "points" | "corners"> {
  const [nx] = extents;
  // Along the last axis planes are counted from the first of them.
  const [ny, nz = 1] = [...extents.slice(1, -1), planes.end - planes.first];
  const [origin, spacing] = [originOf(geometry), spacingOf(geometry)];
  const heights = extents.length === 2 ? [0] : [0, 1];
  const ring = [0, 1, nx + 2, nx + 1];
  const around = heights.flatMap((dz) => ring.map((step) => dz * (ny + 1) * (nx + 1) + step));
  const numbers = new Int32Array((nx + 1) * (ny + 1) * (nz + heights.length - 1)).fill(-1);
  const corners = new Int32Array(cellsIn(activity, planes) * around.length);
  const used: number[] = [];
  let to = 0;
  for (let plane = planes.first; plane < planes.end; plane++)
    activity.eachRun(plane, (begin, end) => {
      const origin = (plane - planes.first) * activity.planeSize;
      for (let cell = origin + begin; cell < origin + end; cell++) {
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
    at[extents.length - 1] += planes.first;
    at.forEach((i, axis) => (points[3 * n + axis] = origin[axis] + i * spacing[axis]));
  });
  return { points, corners };
}

/** Active cells of some planes. */
const cellsIn = ({ planes: counts }: Activity, { first, end }: Planes): number =>
  counts.slice(first, end).reduce((sum, count) => sum + count, 0);
