import type { Field } from "../domain/grid/grid.js";
import { typedArray } from "../device/memory/view.js";
import type { Activity } from "../domain/grid/activity.js";
import { IsoformError } from "../ir/errors.js";
import { gridOf, originOf, spacingOf, type Geometry } from "./fields.js";
import { readBytes, writeTogether } from "./files.js";
import { cellDataOf, child, decodeVtk, encodeVtk, type DataArray, type VtkEncoding } from "./vtk-file.js";

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
 * Writes fields of one grid as the cell data of a VTK unstructured grid (.vtu): the active cells as hexahedra, or quadrilaterals in 2D.
 * @param options `encoding`: `appended` by default
 */
export async function writeUnstructured(
  path: string,
  fields: readonly Field[],
  options: Geometry & { encoding?: VtkEncoding } = {},
): Promise<void> {
  const { set, extents, activity, cells } = gridOf(fields);
  if (cells * 8 > 0x7fffffff) throw new IsoformError(`${path}: ${cells} cells are too many for an unstructured grid; write an image`);
  const { points, corners } = cornersOf(extents, activity, options);
  const perCell = extents.length === 2 ? 4 : 8;
  const arrays = await Promise.all(fields.map(activeOf));
  const offsets = Int32Array.from({ length: cells }, (_, n) => (n + 1) * perCell);
  const types = new Uint8Array(cells).fill(perCell === 4 ? QUADRILATERAL : HEXAHEDRON);
  const piece = {
    tag: "Piece",
    attributes: { NumberOfPoints: points.length / 3, NumberOfCells: cells },
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
  await writeTogether(set, path, encodeVtk({ tag: "UnstructuredGrid", children: [piece] }, options.encoding ?? "appended"));
}

/** Reads a file of `writeUnstructured`. Throws IsoformError for another. */
export async function readUnstructured(path: string): Promise<Unstructured> {
  const root = decodeVtk(await readBytes(path), path);
  if (root.tag !== "UnstructuredGrid") throw new IsoformError(`${path} holds ${root.tag}, not UnstructuredGrid`);
  const piece = child(root, "Piece", path);
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
  return { points, corners, cellData: cellDataOf(piece, array("Cells", "offsets", Int32Array).length, path) };
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

/** The values of the active cells. */
async function activeOf(field: Field): Promise<DataArray> {
  const { name, cardinality: components, type, grid } = field;
  const { activity, cells } = grid;
  const data = typedArray(type, cells * components);
  const plane = activity.planeSize * components;
  let to = 0;
  for await (const { first, end, values } of field.wholePlanes())
    for (let n = first; n < end; n++)
      activity.eachRun(n, (from, stop) => {
        const origin = (n - first) * plane;
        data.set(values.subarray(origin + from * components, origin + stop * components), to);
        to += (stop - from) * components;
      });
  return { name, components, data };
}

/** The corners of the active cells, each once. */
function cornersOf(extents: readonly number[], activity: Activity, geometry: Geometry): Pick<Unstructured, "points" | "corners"> {
  const [nx, ny, nz = 1] = extents;
  const [origin, spacing] = [originOf(geometry), spacingOf(geometry)];
  const heights = extents.length === 2 ? [0] : [0, 1];
  const ring = [0, 1, nx + 2, nx + 1];
  const around = heights.flatMap((dz) => ring.map((step) => dz * (ny + 1) * (nx + 1) + step));
  const numbers = new Int32Array((nx + 1) * (ny + 1) * (nz + heights.length - 1)).fill(-1);
  const corners = new Int32Array(activity.cells * around.length);
  const used: number[] = [];
  let to = 0;
  for (let plane = 0; plane < activity.planes.length; plane++)
    activity.eachRun(plane, (begin, end) => {
      for (let cell = plane * activity.planeSize + begin; cell < plane * activity.planeSize + end; cell++) {
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
    at.forEach((i, axis) => (points[3 * n + axis] = origin[axis] + i * spacing[axis]));
  });
  return { points, corners };
}
