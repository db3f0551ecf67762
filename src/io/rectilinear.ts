import type { Field } from "../domain/grid/grid.js";
import { IsoformError } from "../ir/errors.js";
import { extentText, facesOf, gridOf, hiddenCells, ownPlanes, sourcesOf, withoutHidden, type Faces } from "./fields.js";
import { child, type DataArray, type Element, type VtkEncoding } from "./vtk-file.js";
import { cellsInPieces, joinedCellData, readVtk } from "./vtk-reader.js";
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
  const faces = facesOf(options, grid.extents);
  const last = faces.length - 1;
  return writeVtk(path, grid, {
    tag: "RectilinearGrid",
    ending: ".vtr",
    attributes: { WholeExtent: extentText(grid.extents) },
    encoding: options.encoding,
    piece: async (own) => {
      const planes = own ? ownPlanes(fields[0]) : undefined;
      const arrays = [...(await sourcesOf(fields, own)), ...hiddenCells(grid, planes)];
      const coordinates = AXES.map((axis, n) => {
        const all = faces[n] ?? new Float64Array(1);
        const data = n === last && planes ? all.slice(planes.first, planes.end + 1) : all;
        return { name: `${axis}_coordinates`, components: 1, data };
      });
      return {
        tag: "Piece",
        attributes: { Extent: extentText(grid.extents, planes) },
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
  const { pieces } = await readVtk(path, "RectilinearGrid");
  const [first, ...others] = pieces.map((piece) => coordinatesOf(piece, path));
  const last = first.length - 1;
  const faces = first.map((values, axis) =>
    // The last face of a piece is the first of the next one.
    axis < last ? values : Float64Array.from([...values, ...others.flatMap((each) => [...(each[axis] ?? [])].slice(1))]),
  );
  const extents = faces.map(({ length }) => length - 1);
  return { extents, faces, cellData: withoutHidden(joinedCellData(pieces, cellsInPieces({ pieces }, extents, path), path)) };
}

/** The faces of a piece, along as many axes as it has cells. */
function coordinatesOf(piece: Element, path: string): Float64Array[] {
  const arrays = child(piece, "Coordinates", path).arrays ?? [];
  if (arrays.length !== 3 || arrays.some(({ data }) => data.length === 0))
    throw new IsoformError(`${path}: it has coordinates of ${arrays.filter(({ data }) => data.length > 0).length} axes, not 3`);
  return arrays.map(({ data }) => Float64Array.from(data)).filter((values, n) => n < 2 || values.length > 1);
}
