import { dirname, join } from "node:path";
import { typedArray } from "../device/memory/view.js";
import { IsoformError } from "../ir/errors.js";
import { readBytes } from "./files.js";
import { isFolderName, isPieceName } from "./piece-folder.js";
import { cellDataOf, child, decodeVtk, elementOf, type DataArray, type Element } from "./vtk-file.js";

/** A VTK file that was read, or an index with the files of the pieces. */
export interface VtkRead {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Elements with the cells, in the order of cells. */
  readonly pieces: readonly Element[];
}

/** Reads a VTK file of a kind, or the index of its pieces with all of them. Throws IsoformError for others. */
export async function readVtk(path: string, tag: string): Promise<VtkRead> {
  const root = decodeVtk(await readBytes(path), path);
  if (root.tag === tag) return { attributes: root.attributes ?? {}, pieces: [child(root, "Piece", path)] };
  if (root.tag !== `P${tag}`) throw new IsoformError(`${path} holds ${root.tag}, not ${tag}`);
  const pieces: Element[] = [];
  for (const { attributes } of (root.children ?? []).filter((each) => each.tag === "Piece")) {
    const source = String(attributes?.Source);
    const [folder, name, ...others] = source.split("/");
    if (!isFolderName(folder) || !isPieceName(name ?? "") || others.length > 0)
      throw new IsoformError(`${path} names the piece "${source}"; only indexes that isoform wrote can be read`);
    const file = join(dirname(path), folder, name);
    const found = decodeVtk(await readBytes(file), file);
    if (found.tag !== tag) throw new IsoformError(`${file} holds ${found.tag}, not ${tag}`);
    const piece = child(found, "Piece", file);
    if (piece.attributes?.Extent !== attributes?.Extent)
      throw new IsoformError(`${file} has the extent ${piece.attributes?.Extent}, and ${path} says ${attributes?.Extent}`);
    pieces.push(piece);
  }
  if (pieces.length === 0) throw new IsoformError(`${path} names no pieces`);
  return { attributes: root.attributes ?? {}, pieces };
}

/**
 * Cells of each piece of a box, whose last axis is cut. Throws IsoformError for pieces that are not the box, one after the other.
 * @param extents cells of the box along each axis
 */
export function cellsInPieces({ pieces }: Pick<VtkRead, "pieces">, extents: readonly number[], file: string): number[] {
  const last = extents.length - 1;
  if (pieces.length === 1) return [extents.reduce((product, n) => product * n, 1)];
  let at = 0;
  const counts = pieces.map(({ attributes }) => {
    const found = String(attributes?.Extent).split(" ").map(Number);
    const [first, end] = found.slice(2 * last, 2 * last + 2);
    const expected = [0, 1, 2].flatMap((axis) => (axis === last ? [at, end] : [0, extents[axis] ?? 0]));
    if (found.length !== 6 || !expected.every((n, k) => n === found[k]) || !(end >= first))
      throw new IsoformError(`${file}: its pieces are not the box one after the other`);
    at = end;
    return extents.slice(0, last).reduce((product, n) => product * n, end - first);
  });
  if (at !== extents[last]) throw new IsoformError(`${file}: its pieces end at ${at} of ${extents[last]} cells`);
  return counts;
}

/** Cell data of all pieces by name. Throws IsoformError for pieces with other arrays, or another number of cells. */
export function joinedCellData(pieces: readonly Element[], counts: readonly number[], file: string): ReadonlyMap<string, DataArray> {
  const each = pieces.map((piece, n) => cellDataOf(piece, counts[n], file));
  if (each.length === 1) return each[0];
  return new Map(
    [...each[0]].map(([name, { components, data }]) => {
      const all = typedArray(
        elementOf(data),
        counts.reduce((sum, count) => sum + count * components, 0),
      );
      let at = 0;
      for (const arrays of each) {
        const found = arrays.get(name);
        if (found?.components !== components || found.data.constructor !== data.constructor || arrays.size !== each[0].size)
          throw new IsoformError(`${file}: its pieces have different arrays, such as "${name}"`);
        all.set(found.data, at);
        at += found.data.length;
      }
      return [name, { name, components, data: all }];
    }),
  );
}
