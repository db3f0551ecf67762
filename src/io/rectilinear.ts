import type { Field } from "../domain/grid/grid.js";
import { IsoformError } from "../ir/errors.js";
import { facesOf, gridOf, hiddenCells, sourcesOf, withoutHidden, type Faces } from "./fields.js";
import { readBytes, writeTogether } from "./files.js";
import { cellDataOf, child, decodeVtk, encodeVtk, type DataArray, type VtkEncoding } from "./vtk-file.js";

/** A box of cells of any widths with values. */
export interface Rectilinear extends Faces {
  /** Cells along x, y (and z). */
  readonly extents: readonly number[];
  /** Values in (z, y, x, k) order, as `Field.upload` takes them. */
  readonly cellData: ReadonlyMap<string, DataArray>;
}

const AXES = ["x", "y", "z"];

/**
 * Writes fields of one grid as the cell data of a VTK rectilinear grid (.vtr). Inactive cells have the fill value and are marked as hidden. Values of
 * more than 32 MiB are read some planes at a time as they are written: LaunchError if they change before that.
 * @param options `faces`: where cells begin and the last one ends, along each axis; `encoding`: `appended` by default
 * @throws IsoformError for faces that are not one more than the cells, or do not rise
 */
export async function writeRectilinear(path: string, fields: readonly Field[], options: Faces & { encoding?: VtkEncoding }): Promise<void> {
  const grid = gridOf(fields);
  const faces = facesOf(options, grid.extents);
  const arrays = [...(await sourcesOf(fields)), ...hiddenCells(grid)];
  const extent = [0, 1, 2].map((axis) => `0 ${grid.extents[axis] ?? 0}`).join(" ");
  const coordinates = AXES.map((axis, n) => ({ name: `${axis}_coordinates`, components: 1, data: faces[n] ?? new Float64Array(1) }));
  const piece = {
    tag: "Piece",
    attributes: { Extent: extent },
    children: [
      { tag: "CellData", arrays },
      { tag: "Coordinates", arrays: coordinates },
    ],
  };
  await writeTogether(
    grid.set,
    path,
    encodeVtk({ tag: "RectilinearGrid", attributes: { WholeExtent: extent }, children: [piece] }, options.encoding ?? "appended"),
  );
}

/** Reads a file of `writeRectilinear`. Throws IsoformError for another. */
export async function readRectilinear(path: string): Promise<Rectilinear> {
  const root = decodeVtk(await readBytes(path), path);
  if (root.tag !== "RectilinearGrid") throw new IsoformError(`${path} holds ${root.tag}, not RectilinearGrid`);
  const piece = child(root, "Piece", path);
  const arrays = child(piece, "Coordinates", path).arrays ?? [];
  if (arrays.length !== 3 || arrays.some(({ data }) => data.length === 0))
    throw new IsoformError(`${path}: it has coordinates of ${arrays.filter(({ data }) => data.length > 0).length} axes, not 3`);
  const faces = arrays.map(({ data }) => Float64Array.from(data)).filter((values, n) => n < 2 || values.length > 1);
  const extents = faces.map(({ length }) => length - 1);
  const cells = extents.reduce((product, extent) => product * extent, 1);
  return { extents, faces, cellData: withoutHidden(cellDataOf(piece, cells, path)) };
}
