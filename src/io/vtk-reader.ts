import { dirname, join } from "node:path";
import { typedArray, type TypedArray } from "../device/memory/view.js";
import { IsoformError } from "../base/errors.js";
import { readBytes } from "./files.js";
import { isFolderName, isPieceName } from "./piece-folder.js";
import { cellDataOf, child, decodeVtk, elementOf, type DataArray, type VtkElement } from "./vtk-file.js";

/** A VTK file that was read, or an index with the files of the pieces. */
interface VtkRead {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Elements with the cells. */
  readonly pieces: readonly VtkElement[];
}

/** Reads a VTK file of a kind, or the index of its pieces with all of them. Throws IsoformError for others. */
export async function readVtk(path: string, tag: string): Promise<VtkRead> {
  const root = decodeVtk(await readBytes(path), path);
  if (root.tag === tag) return { attributes: root.attributes ?? {}, pieces: [child(root, "Piece", path)] };
  if (root.tag !== `P${tag}`) throw new IsoformError(`${path} holds ${root.tag}, not ${tag}`);
  const pieces: VtkElement[] = [];
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

/** Cells along each axis of a file's box, two where there are none along z. Throws IsoformError for another extent. */
export function cellsAlong({ attributes }: Pick<VtkRead, "attributes">, file: string): number[] {
  const found = String(attributes.WholeExtent).split(" ").map(Number);
  const ends = found.filter((_, n) => n % 2 === 1);
  const extents = ends.at(-1) === 0 ? ends.slice(0, -1) : ends;
  if (found.length !== 6 || !extents.every((extent) => Number.isInteger(extent) && extent >= 0))
    throw new IsoformError(`${file}: its WholeExtent is not a box of cells`);
  return extents;
}

/** Cells [first, end) along each axis. */
type PieceBox = readonly (readonly [first: number, end: number])[];

/**
 * The cells of each piece of a box. Throws IsoformError for pieces that leave out cells, or have some twice.
 * @param extents cells of the box along each axis
 */
export function pieceBoxes(pieces: readonly VtkElement[], extents: readonly number[], file: string): PieceBox[] {
  const boxes = pieces.map(({ attributes }): PieceBox => {
    const found = String(attributes?.Extent).split(" ").map(Number);
    const box = extents.map((_, axis) => [found[2 * axis], found[2 * axis + 1]] as const);
    const isInside = box.every(([first, end], axis) => first >= 0 && first <= end && end <= extents[axis]);
    if (found.length !== 6 || !found.every(Number.isInteger) || !isInside)
      throw new IsoformError(`${file}: its piece "${attributes?.Extent}" is not in the box of [${extents}] cells`);
    return box;
  });
  const filled = boxes.filter((box) => cellsIn(box) > 0);
  for (const [n, a] of filled.entries())
    for (const b of filled.slice(n + 1))
      if (a.every(([first, end], axis) => first < b[axis][1] && b[axis][0] < end))
        throw new IsoformError(`${file}: two of its pieces have the same cells`);
  const [cells, all] = [filled.reduce((sum, box) => sum + cellsIn(box), 0), extents.reduce((product, n) => product * n, 1)];
  if (cells !== all) throw new IsoformError(`${file}: its pieces have ${cells} of ${all} cells`);
  return boxes;
}

const cellsIn = (box: PieceBox): number => box.reduce((product, [first, end]) => product * (end - first), 1);

/** Cell data of a box by name, in (z, y, x, k) order. Throws IsoformError for pieces that are not this box, and for other arrays in some. */
export function cellDataOfBox(pieces: readonly VtkElement[], extents: readonly number[], file: string): ReadonlyMap<string, DataArray> {
  const boxes = pieceBoxes(pieces, extents, file);
  return joinedCellData(pieces, boxes.map(cellsIn), file, (all, values, n, components) => {
    const [[left, right], rows, planes = [0, 1]] = boxes[n];
    const width = (right - left) * components;
    let from = 0;
    for (let plane = planes[0]; plane < planes[1]; plane++)
      for (let row = rows[0]; row < rows[1]; row++, from += width)
        all.set(values.subarray(from, from + width), ((plane * extents[1] + row) * extents[0] + left) * components);
  });
}

/** Puts the values of piece number `n` into the ones of all pieces. */
type Put = (all: TypedArray, values: TypedArray, n: number, components: number) => void;

/**
 * Cell data of all pieces by name. Throws IsoformError for pieces with other arrays, or another number of cells.
 * @param counts cells of each piece
 * @param put default: one piece after the other
 */
export function joinedCellData(
  pieces: readonly VtkElement[],
  counts: readonly number[],
  file: string,
  put: Put = (all, values, n, components) => all.set(values, components * counts.slice(0, n).reduce((sum, count) => sum + count, 0)),
): ReadonlyMap<string, DataArray> {
  const each = pieces.map((piece, n) => cellDataOf(piece, counts[n], file));
  if (each.length === 1) return each[0];
  return new Map(
    [...each[0]].map(([name, { components, data }]) => {
      const all = typedArray(
        elementOf(data),
        counts.reduce((sum, count) => sum + count * components, 0),
      ) as TypedArray;
      for (const [n, arrays] of each.entries()) {
        const found = arrays.get(name);
        if (found?.components !== components || found.data.constructor !== data.constructor || arrays.size !== each[0].size)
          throw new IsoformError(`${file}: its pieces have different arrays, such as "${name}"`);
        put(all, found.data, n, components);
      }
      return [name, { name, components, data: all }];
    }),
  );
}
