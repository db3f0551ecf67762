import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { IsoformError } from "../base/errors.js";
import { agreedByAll } from "../set/job.js";
import type { Ranks } from "../set/index.js";
import { writeByOne, type FileContent } from "./files.js";
import { makePieceFolder, pieceName, removeUnnamed } from "./piece-folder.js";
import { syncFolder, writeSynced } from "./whole-file.js";

/*
 * Files that several processes write together: a piece each, in a folder of its own for each time, and an index that names them. The index takes its place
 * once all pieces are on the disk, which is the commit: until then the files before are what they were.
 */

/** A piece to be written. */
interface NewPiece<T> {
  /** Number by which it is named; the pieces of all ranks have different ones. */
  readonly number: number;
  /** Its content, which is made without messages between processes. */
  content(folder: string): AsyncIterable<Uint8Array | string>;
  /** Tells all ranks of it, once it is written. */
  about(): T;
}

/** A piece, once it is on the disk. */
export interface Written<T> {
  readonly number: number;
  readonly bytes: number;
  readonly about: T;
}

/** How a file is written in pieces. */
interface InPieces<T> {
  /** The index. */
  readonly path: string;
  /** End of the pieces' names. */
  readonly ending?: string;
  /** The folders that indexes at `path` name; throws an error where that cannot be told. */
  named(): Promise<readonly (string | undefined)[]>;
  /** Pieces of this process. */
  readonly pieces: readonly NewPiece<T>[];
  /** Content of the index of all pieces, by their numbers. Throws IsoformError where they do not fit each other. */
  index(folder: string, all: readonly Written<T>[]): FileContent;
  /** Puts the index in its place; rank 0 is asked. */
  put(index: FileContent): Promise<void>;
}

/** Whether rank 0 finds a file at `path`, or nothing: pieces cannot be put beside a pipe or a device. */
export async function isForFile(ranks: Ranks, path: string): Promise<boolean> {
  const found = ranks.rank === 0 ? await stat(path).catch(() => undefined) : undefined;
  return ranks.agree(!found || found.isFile(), "the kind of a file");
}

/**
 * Writes a file in pieces; all processes call it.
 * @throws IsoformError on all ranks alike where one cannot write, or the pieces do not fit; what is at `path` is then what it was
 */
export async function writeByRanks<T>(ranks: Ranks, content: InPieces<T>): Promise<void> {
  const { path, ending } = content;
  const cleanUp = async (): Promise<void> =>
    void (ranks.rank === 0 && (await removeUnnamed(path, () => content.named()).catch(() => undefined)));
  await cleanUp();
  const begun = await ranks.agree(ranks.rank === 0 ? await madeFolder(path) : {}, "the folder of pieces");
  if (begun.folder === undefined) throw agreedByAll(new IsoformError(begun.problem));
  const { folder } = begun;
  const pathOf = (piece: number): string => join(dirname(path), folder, pieceName(piece, ending));
  try {
    const own = await writePieces(content.pieces, folder, pathOf);
    const all = await ranks.gather(own, "the pieces of a file");
    const written = all.flatMap((each, rank) => {
      if ("problem" in each) throw agreedByAll(new IsoformError(`rank ${rank} of ${ranks.count}: ${each.problem}`));
      return each;
    });
    written.sort((a, b) => a.number - b.number);
    const index = content.index(folder, written);
    await writeByOne({ ranks }, index, async (pieces) => {
      for (const { number, bytes } of written) await requirePiece(path, pathOf(number), bytes);
      await content.put(pieces);
    });
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

async function madeFolder(path: string): Promise<{ readonly folder?: string; readonly problem?: string }> {
  try {
    return { folder: await makePieceFolder(path) };
  } catch (error) {
    return { problem: `cannot write ${path}: ${(error as Error).message.split(",")[0]}` };
  }
}

/** Writes pieces, which are on the disk once it returns. An error is for all ranks, which wait for each other. */
async function writePieces<T>(
  pieces: readonly NewPiece<T>[],
  folder: string,
  pathOf: (piece: number) => string,
): Promise<Written<T>[] | { readonly problem: string }> {
  const written: Written<T>[] = [];
  for (const { number, content, about } of pieces) {
    const path = pathOf(number);
    try {
      await writeSynced(path, "wx", content(folder));
      await syncFolder(dirname(path));
      written.push({ number, bytes: (await stat(path)).size, about: about() });
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      const remedy = code === "ENOENT" ? ": name a folder that all ranks see" : "";
      return { problem: code === undefined ? message : `cannot write ${path}: ${message.split(",")[0]}${remedy}` };
    }
  }
  return written;
}

/** Throws IsoformError where a piece cannot be the one that was written. */
export async function requirePiece(index: string, piece: string, bytes: number): Promise<void> {
  const found = await stat(piece).catch(() => undefined);
  const remedy = `keep the folder ${dirname(piece)} beside ${index} as it was written`;
  if (!found?.isFile()) throw new IsoformError(`${index} lacks its piece ${piece}: ${remedy}`);
  if (found.size !== bytes)
    throw new IsoformError(`${piece}, a piece of ${index}, has ${found.size} bytes in place of ${bytes}: ${remedy}`);
}
