import type { Field } from "../domain/grid/grid.js";
import { IsoformError } from "../base/errors.js";
import { extentText, faceCoordinates, gridOf, hiddenCells, sourcesOf, spanOf, wholePart, withoutHidden, type Faces } from "./fields.js";
import { child, type DataArray, type VtkElement, type VtkEncoding } from "./vtk-file.js";
import { pieceBoxes, cellDataOfBox, cellsAlong, readVtk } from "./vtk-reader.js";
import { writeVtk } from "./vtk-writer.js";

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
 * more than 32 MiB are read some planes at a time as they are written: LaunchError if they change before that. Several processes write a file each, which
 * an index names (.pvtr).
 * @param options `faces`: where cells begin and the last one ends, along each axis; `encoding`: `appended` by default
 * @returns the path of the file to open, which is another one than `path` for an index
 * @throws IsoformError for faces that are not one more than the cells, or do not rise
 */
export async function writeRectilinear(
  path: string,
  fields: readonly Field[],
  options: Faces & { encoding?: VtkEncoding },
): Promise<string> {
  const grid = gridOf(fields);
  const faces = faceCoordinates(options, grid.extents);
  return writeVtk(path, grid, {
    tag: "RectilinearGrid",
    ending: ".vtr",
    attributes: { WholeExtent: extentText(grid.extents) },
    encoding: options.encoding,
    piece: async (part) => {
      const arrays = [...(await sourcesOf(fields, part)), ...hiddenCells(grid, part ?? wholePart(grid))];
      const coordinates = AXES.map((axis, n) => {
        const all = faces[n] ?? new Float64Array(1);
        const [first, end] = spanOf(grid.extents, n, part);
        const data = all.slice(first, end + 1);
        return { name: `${axis}_coordinates`, components: 1, data };
      });
      return {
        tag: "Piece",
        attributes: { Extent: extentText(grid.extents, part) },
        children: [
          { tag: "CellData", arrays },
          { tag: "Coordinates", arrays: coordinates },
        ],
      };
    },
  });
}

/** Reads a file of `writeRectilinear`, or an index with its pieces. Throws IsoformError for another. */
export async function readRectilinear(path: string): Promise<Rectilinear> {
  const read = await readVtk(path, "RectilinearGrid");
  const extents = cellsAlong(read, path);
  const cellData = withoutHidden(cellDataOfBox(read.pieces, extents, path));
  return { extents, faces: facesOfPieces(read.pieces, extents, path), cellData };
}

/** The faces along each axis, from all pieces. Throws IsoformError where they disagree, or lack some. */
function facesOfPieces(pieces: readonly VtkElement[], extents: readonly number[], path: string): Float64Array[] {
  const faces = extents.map((cells) => new Float64Array(cells + 1).fill(NaN));
  const boxes = pieceBoxes(pieces, extents, path);
  for (const [n, piece] of pieces.entries())
    for (const [axis, found] of coordinatesOf(piece, path).entries()) {
      const [first, end] = boxes[n][axis] ?? [0, -1];
      const known = faces[axis]?.subarray(first, end + 1);
      if (known?.length !== found.length || found.some((value, k) => !Number.isNaN(known[k]) && known[k] !== value))
        throw new IsoformError(`${path}: the coordinates of its pieces do not fit each other`);
      known.set(found);
    }
  return faces;
}

/** The faces of a piece, along as many axes as it has cells. */
function coordinatesOf(piece: VtkElement, path: string): Float64Array[] {
  const arrays = child(piece, "Coordinates", path).arrays ?? [];
  if (arrays.length !== 3 || arrays.some(({ data }) => data.length === 0))
    throw new IsoformError(`${path}: it has coordinates of ${arrays.filter(({ data }) => data.length > 0).length} axes, not 3`);
  return arrays.map(({ data }) => Float64Array.from(data)).filter((values, n) => n < 2 || values.length > 1);
}
