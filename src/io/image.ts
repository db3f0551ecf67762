import type { Field } from "../domain/grid/grid.js";
import { IsoformError } from "../base/errors.js";
import { extentText, gridOf, hiddenCells, originOf, sourcesOf, spacingOf, wholePart, withoutHidden, type Geometry } from "./fields.js";
import type { DataArray, VtkEncoding } from "./vtk-file.js";
import { cellDataOfBox, cellsAlong, readVtk } from "./vtk-reader.js";
import { writeVtk } from "./vtk-writer.js";

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
 * 32 MiB are read some planes at a time as they are written: LaunchError if they change before that. Several processes write a file each, which an
 * index names (.pvti).
 * @param options `encoding`: `appended` by default
 * @returns the path of the file to open, which is another one than `path` for an index
 */
export async function writeImage(
  path: string,
  fields: readonly Field[],
  options: Geometry & { encoding?: VtkEncoding } = {},
): Promise<string> {
  const grid = gridOf(fields);
  return writeVtk(path, grid, {
    tag: "ImageData",
    ending: ".vti",
    attributes: { WholeExtent: extentText(grid.extents), Origin: originOf(options).join(" "), Spacing: spacingOf(options).join(" ") },
    encoding: options.encoding,
    piece: async (part) => {
      const arrays = [...(await sourcesOf(fields, part)), ...hiddenCells(grid, part ?? wholePart(grid))];
      return { tag: "Piece", attributes: { Extent: extentText(grid.extents, part) }, children: [{ tag: "CellData", arrays }] };
    },
  });
}

/** Reads a file of `writeImage`, or an index with its pieces. Throws IsoformError for another. */
export async function readImage(path: string): Promise<Image> {
  const read = await readVtk(path, "ImageData");
  const numbers = (name: string, count: number): number[] => {
    const found = String(read.attributes[name]).split(" ").map(Number);
    if (found.length !== count || !found.every(Number.isFinite)) throw new IsoformError(`${path}: its ${name} is not ${count} numbers`);
    return found;
  };
  const extents = cellsAlong(read, path);
  return {
    extents,
    origin: numbers("Origin", 3),
    spacing: numbers("Spacing", 3),
    cellData: withoutHidden(cellDataOfBox(read.pieces, extents, path)),
  };
}
