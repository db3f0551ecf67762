import { lstat, readFile, rm } from "node:fs/promises";
import type { Field } from "../domain/grid/grid.js";
import { cutsRows } from "../domain/grid/split.js";
import { spansProcesses } from "../set/index.js";
import { isForFile, writeByRanks } from "./by-ranks.js";
import { ownParts, type FieldPart } from "./fields.js";
import { fail, writeByOne, writePieces } from "./files.js";
import { isFolderName, pieceName, removeUnnamed } from "./piece-folder.js";
import { encodeVtk, typeName, type VtkElement, type NewElement, type VtkEncoding } from "./vtk-file.js";

/** A VTK file to be written. */
interface NewVtkFile {
  readonly tag: "ImageData" | "RectilinearGrid" | "UnstructuredGrid";
  /** End of the file's name: `.vti`. */
  readonly ending: string;
  /** Attributes of the file's element. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly encoding: VtkEncoding | undefined;
  /** The element with the cells: all, or a part that members of this process own, given without messages between processes. */
  piece(part?: FieldPart): Promise<NewElement>;
}

/** The index of a file's pieces: `flow.pvti` for `flow.vti`. */
function indexOf(path: string, ending: string): string {
  const index = `.p${ending.slice(1)}`;
  if (path.endsWith(index)) return path;
  return `${path.endsWith(ending) ? path.slice(0, -ending.length) : path}${index}`;
}

/*
 * A file of one process and an index of pieces are two forms of one result, under two names. Whatever is written replaces the other form, which would be
 * taken for the new one otherwise.
 */

/**
 * Writes a VTK file, in place of both forms of an earlier one. Of several processes, which all call it, each writes the cells of its members to a file of its own, in a folder beside `path`, and
 * rank 0 an index that names these (.pvti, .pvtr, .pvtu); where members have some of the rows of planes, there is a file for each.
 * @returns the path of the file to open: `path`, or the index
 * @throws IsoformError if a file cannot be written, on all ranks alike; what was there is then as it was
 */
export async function writeVtk(path: string, grid: Field["grid"], file: NewVtkFile): Promise<string> {
  const { tag, ending, attributes, encoding = "appended" } = file;
  const treeOf = (piece: NewElement): NewElement => ({ tag, attributes: { ...attributes, ...wholeOf(piece) }, children: [piece] });
  const { set } = grid;
  const { ranks } = set;
  const index = indexOf(path, ending);
  if (!ranks || !spansProcesses(set) || !(await isForFile(ranks, path))) {
    await writeByOne(set, encodeVtk(treeOf(await file.piece()), encoding), async (content) => {
      await writePieces(path, content);
      if (index !== path) await removeIndex(index);
    });
    return path;
  }
  const parts = ownParts(grid);
  const own: { readonly number: number; readonly piece: NewElement }[] = [];
  for (const part of parts) own.push({ number: cutsRows(grid) ? part.members[0] : ranks.rank, piece: await file.piece(part) });
  const [{ piece: model }] = own;
  await writeByRanks(ranks, {
    path: index,
    ending,
    named: () => foldersIn(index),
    pieces: own.map(({ number, piece }) => ({
      number,
      content: () => encodeVtk(treeOf(piece), encoding),
      about: () => ({ extent: piece.attributes?.Extent }),
    })),
    index: (folder, all) => {
      const sources = all.map(({ number, about }) => ({
        tag: "Piece",
        attributes: { ...(about.extent !== undefined && { Extent: about.extent }), Source: `${folder}/${pieceName(number, ending)}` },
      }));
      const children = [...(model.children ?? []).flatMap(listed), ...sources];
      return encodeVtk({ tag: `P${tag}`, attributes: { ...attributes, GhostLevel: "0" }, children }, "inline");
    },
    put: async (content) => {
      const replaced = await foldersIn(index);
      await writePieces(index, content);
      for (const folder of replaced) await removeUnnamed(index, () => foldersIn(index), folder);
      if (index !== path) await removeFile(path);
    },
  });
  return index;
}

/** Removes the index of an earlier time, with its folders; another file of that name stays. */
async function removeIndex(index: string): Promise<void> {
  const folders = await foldersIn(index).catch((error: Error) => fail(index, "read, and may be of an earlier time", error));
  if (folders.length === 0) return;
  await removeFile(index);
  for (const folder of folders) await removeUnnamed(index, () => foldersIn(index), folder);
}

/** Removes a file, if there is one. Throws IsoformError where it stays. */
async function removeFile(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found || found.isDirectory()) return;
  await rm(path).catch((error: Error) => fail(path, "removed, and is of an earlier time", error));
}

/** A file's extent is its piece's: one of several has some of the cells. */
const wholeOf = ({ attributes }: NewElement): Record<string, string> =>
  attributes?.Extent === undefined ? {} : { WholeExtent: String(attributes.Extent) };

/** The arrays of an element of pieces, as the index lists them; cells are not listed. */
function listed({ tag, arrays = [] }: NewElement): VtkElement[] {
  if (tag === "Cells") return [];
  const children = arrays.map((array) => ({
    tag: "PDataArray",
    attributes: { type: typeName(array), Name: array.name, NumberOfComponents: array.components },
  }));
  return [{ tag: `P${tag}`, children }];
}

/** The folders that an index of pieces names; none where there is none. */
async function foldersIn(index: string): Promise<string[]> {
  const text = await readFile(index, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const names = [...text.matchAll(/ Source="([^"/]+)\//g)].map(([, name]) => name);
  return [...new Set(names)].filter(isFolderName);
}
