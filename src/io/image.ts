import type { Field } from "../domain/grid/grid.js";
import { IsoformError } from "../ir/errors.js";
import { gridOf, hiddenCells, originOf, sourcesOf, spacingOf, withoutHidden, type Geometry } from "./fields.js";
import { readBytes, writeTogether } from "./files.js";
import { cellDataOf, child, decodeVtk, encodeVtk, type DataArray, type VtkEncoding } from "./vtk-file.js";

/** A box of cells with values. */
export interface Image {
  /** Cells along x, y (and z). */
  readonly extents: readonly number[];
  readonly origin: readonly number[];
  readonly spacing: readonly number[];
  /** Values in (z, y, x, k) order, as `Field.upload` takes them. */
  readonly cellData: ReadonlyMap<string, DataArray>;
}

/**
 * Writes fields of one grid as the cell data of a VTK image (.vti). Inactive cells have the fill value and are marked as hidden. Values of more than
 * 32 MiB are read some planes at a time as they are written: LaunchError if they change before that.
 * @param options `encoding`: `appended` by default
 */
export async function writeImage(
  path: string,
  fields: readonly Field[],
  options: Geometry & { encoding?: VtkEncoding } = {},
): Promise<void> {
  const grid = gridOf(fields);
  const arrays = [...(await sourcesOf(fields)), ...hiddenCells(grid)];
  const extent = [0, 1, 2].map((axis) => `0 ${grid.extents[axis] ?? 0}`).join(" ");
  const image = { WholeExtent: extent, Origin: originOf(options).join(" "), Spacing: spacingOf(options).join(" ") };
  const piece = { tag: "Piece", attributes: { Extent: extent }, children: [{ tag: "CellData", arrays }] };
  await writeTogether(
    grid.set,
    path,
    encodeVtk({ tag: "ImageData", attributes: image, children: [piece] }, options.encoding ?? "appended"),
  );
}

/** Reads a file of `writeImage`. Throws IsoformError for another. */
export async function readImage(path: string): Promise<Image> {
  const root = decodeVtk(await readBytes(path), path);
  if (root.tag !== "ImageData") throw new IsoformError(`${path} holds ${root.tag}, not ImageData`);
  const numbers = (name: string, count: number): number[] => {
    const found = String(root.attributes?.[name]).split(" ").map(Number);
    if (found.length !== count || !found.every(Number.isFinite)) throw new IsoformError(`${path}: its ${name} is not ${count} numbers`);
    return found;
  };
  const ends = numbers("WholeExtent", 6).filter((_, n) => n % 2 === 1);
  const extents = ends.at(-1) === 0 ? ends.slice(0, -1) : ends;
  if (!extents.every((extent) => Number.isInteger(extent) && extent >= 0))
    throw new IsoformError(`${path}: its WholeExtent is not a box of cells`);
  const cells = extents.reduce((product, extent) => product * extent, 1);
  return {
    extents,
    origin: numbers("Origin", 3),
    spacing: numbers("Spacing", 3),
    cellData: withoutHidden(cellDataOf(child(root, "Piece", path), cells, path)),
  };
}
