import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { typedArray, type TypedArray } from "../device/memory/view.js";
import { IsoformError } from "../ir/errors.js";
import type { ElementType } from "../ir/scalars.js";
import { agreedByAll } from "../set/job.js";
import type { Ranks } from "../set/index.js";
import { BLOCK, BlockDigests, CheckedFile, digestBytes } from "./block-digests.js";
import { isFolderName, makeFolder, pieceName, removeUnnamed } from "./checkpoint-folder.js";
import type { PartArray } from "./checkpoint-parts.js";
import { writeByOne } from "./files.js";
import { cannotWrite, replaceCheckpoint } from "./replace-checkpoint.js";
import { isElementType, readLayout, stateBytes, type StateContent, type StoredArray } from "./state-file.js";
import { syncFolder, writeSynced } from "./whole-file.js";

/*
 * Checkpoints in pieces: a state file of each process, in a folder of its own for each time, and the index that names them. Once all pieces are on the
 * disk, the index takes the place of the one before, which is the commit. The index has what all processes have alike, and the digests of the pieces.
 */

/** PieceList of a checkpoint, as the index describes them. */
interface PieceList {
  /** Name of the folder beside the index. */
  readonly folder: string;
  /** Bytes of a block, for which there is a digest. */
  readonly block: number;
  /** Size of each piece, by rank. */
  readonly bytes: readonly number[];
  /** For each array of the checkpoint, how many of its values each piece has, one after the other; null for an array of the index. */
  readonly arrays: readonly ({ readonly type: ElementType; readonly counts: readonly number[] } | null)[];
}

/** A rank's piece once it is on the disk. */
interface Written {
  readonly problem?: string;
  readonly bytes: number;
  readonly digests: Uint8Array;
  /** The first value of each array in pieces, and how many the rank has. */
  readonly runs: readonly (readonly [first: number, count: number])[];
}

/** Content of a checkpoint: arrays that processes have in pieces, and others. */
interface Content {
  readonly head: object;
  readonly arrays: readonly PartArray[];
}

/**
 * Writes a checkpoint of several processes in pieces; all of them call it.
 * @returns false on all ranks where nothing was written, as no array is in pieces, or `path` is a pipe or a device
 * @throws IsoformError on all ranks alike where one cannot write; what is at `path` is then what it was
 */
export async function writeInPieces(ranks: Ranks, path: string, format: string, { head, arrays }: Content): Promise<boolean> {
  const own = arrays.flatMap((array) => array.own ?? []);
  if (own.length === 0) return false;
  const begun = await ranks.agree(ranks.rank === 0 ? await begin(path) : undefined, "the folder of a checkpoint");
  const { folder, problem } = begun!;
  if (problem !== undefined) throw agreedByAll(new IsoformError(problem));
  if (folder === undefined) return false;
  const piece = stateBytes(format, { head: { checkpoint: folder, rank: ranks.rank }, arrays: own });
  const written = await writePiece(join(dirname(path), folder), ranks.rank, piece);
  const runs = own.map(({ first, length }) => [first, length] as const);
  const all: readonly Written[] = await ranks.gather({ ...written, runs }, "the pieces of a checkpoint");
  try {
    const wrong = problemOf(all, arrays);
    if (wrong !== undefined) throw agreedByAll(new IsoformError(wrong));
    await writeByOne({ ranks }, stateBytes(format, indexOf(folder, all, { head, arrays })), async (bytes) => {
      for (const [rank, each] of all.entries()) await requirePiece(path, join(dirname(path), folder, pieceName(rank)), each.bytes);
      await replaceCheckpoint(path, bytes);
    });
  } catch (error) {
    if (ranks.rank === 0) await removeUnnamed(path).catch(() => undefined);
    throw error;
  }
  return true;
}

/** Makes the folder; none where the target is not a file, so that values must go there one after the other. */
async function begin(path: string): Promise<{ readonly folder?: string; readonly problem?: string }> {
  const existing = await stat(path).catch(() => undefined);
  if (existing && !existing.isFile()) return {};
  try {
    await removeUnnamed(path).catch(() => undefined);
    return { folder: await makeFolder(path) };
  } catch (error) {
    return { problem: await cannotWrite(path, error as Error) };
  }
}

/** Writes a piece, which is on the disk once it returns. An error is for all ranks, which wait for each other. */
async function writePiece(folder: string, rank: number, content: AsyncIterable<Uint8Array>): Promise<Omit<Written, "runs">> {
  const path = join(folder, pieceName(rank));
  const passing = new BlockDigests(BLOCK.bytes);
  try {
    await writeSynced(path, "wx", passing.through(content));
    await syncFolder(folder);
    return { bytes: passing.bytes, digests: passing.digests };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const remedy = code === "ENOENT" ? ": name a folder that all ranks see" : "";
    const problem = code === undefined ? message : `cannot write ${path}: ${message.split(",")[0]}${remedy}`;
    return { problem, bytes: 0, digests: new Uint8Array(0) };
  }
}

/** The first thing that is wrong with written pieces, the same on all ranks. */
function problemOf(all: readonly Written[], arrays: readonly PartArray[]): string | undefined {
  const failed = all.findIndex(({ problem }) => problem !== undefined);
  if (failed >= 0) return `rank ${failed} of ${all.length}: ${all[failed].problem}`;
  for (const [n, { length }] of arrays.filter(({ own }) => own).entries()) {
    let end = 0;
    for (const [rank, { runs }] of all.entries()) {
      const [first, count] = runs[n];
      if (first !== end) return `rank ${rank} gives values of an array from ${first} on, and the ranks before end at ${end}`;
      end += count;
    }
    if (end !== length) return `${all.length} ranks give ${end} of the ${length} values of an array`;
  }
  return undefined;
}

/** Content of the index. Its first array has the digests of all pieces. */
function indexOf(folder: string, all: readonly Written[], { head, arrays }: Content): StateContent {
  let n = -1;
  const inPieces = arrays.map(({ type, own }) => {
    if (!own) return null;
    n++;
    return { type, counts: all.map(({ runs }) => runs[n][1]) };
  });
  const pieces: PieceList = { folder, block: BLOCK.bytes, bytes: all.map(({ bytes }) => bytes), arrays: inPieces };
  const digests = new Uint8Array(Buffer.concat(all.map((each) => each.digests)));
  return { head: { ...head, pieces }, arrays: [digests, ...arrays.filter(({ own }) => !own)] };
}

/**
 * The arrays of a checkpoint in pieces, in the order in which they were written. Each block of a piece that is read is compared with its digest.
 * @param described the index's description of the pieces, which may be anything
 * @param arrays of the index
 * @throws IsoformError for a description that does not fit, and for a piece that is missing or of another size
 */
export async function openPieces(path: string, format: string, described: unknown, arrays: readonly StoredArray[]): Promise<StoredArray[]> {
  const [digests, ...shared] = arrays;
  const pieces = requirePieces(path, described, digests, shared.length);
  const all = await digests.values();
  let at = 0;
  const files: CheckedFile[] = [];
  for (const [rank, bytes] of pieces.bytes.entries()) {
    const file = join(dirname(path), pieces.folder, pieceName(rank));
    await requirePiece(path, file, bytes);
    files.push(new CheckedFile(file, bytes, pieces.block, all.subarray(at, (at += digestBytes(bytes, pieces.block))) as Uint8Array));
  }
  const opened = files.map((file, rank) => onceOnly(() => openPiece(file, format, pieces, rank)));
  let [inPieces, inIndex] = [0, 0];
  return pieces.arrays.map((each) => (each === null ? shared[inIndex++] : inRuns(each, inPieces++, opened)));
}

/** Throws IsoformError where a piece cannot be the one that was written. */
async function requirePiece(index: string, file: string, bytes: number): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  const remedy = `keep the folder ${dirname(file)} beside ${index} as it was written`;
  if (!found?.isFile()) throw new IsoformError(`${index} lacks its piece ${file}: ${remedy}`);
  if (found.size !== bytes) throw new IsoformError(`${file}, a piece of ${index}, has ${found.size} bytes in place of ${bytes}: ${remedy}`);
}

type Opened = () => Promise<readonly StoredArray[]>;

/** The arrays of a piece. Throws IsoformError for the piece of another checkpoint. */
async function openPiece(file: CheckedFile, format: string, { folder, arrays }: PieceList, rank: number): Promise<readonly StoredArray[]> {
  const { head, arrays: found } = await readLayout(file, format);
  const { checkpoint, rank: its } = (head ?? {}) as { checkpoint?: unknown; rank?: unknown };
  const expected = arrays.filter((each) => each !== null);
  const fits =
    expected.length === found.length &&
    found.every(({ type, length }, n) => type === expected[n].type && length === expected[n].counts[rank]);
  if (checkpoint !== folder || its !== rank || !fits)
    throw new IsoformError(`${file.path} is a piece of another checkpoint: keep the folder as it was written`);
  return found;
}

/** An array whose values are in pieces one after the other. */
function inRuns({ type, counts }: NonNullable<PieceList["arrays"][number]>, n: number, opened: readonly Opened[]): StoredArray {
  const begins: number[] = [];
  let length = 0;
  for (const count of counts) {
    begins.push(length);
    length += count;
  }
  return {
    type,
    length,
    values: async (first = 0, end = length) => {
      const all = typedArray(type, end - first) as TypedArray;
      for (const [rank, begin] of begins.entries()) {
        const [from, to] = [Math.max(first, begin), Math.min(end, begin + counts[rank])];
        if (from >= to) continue;
        const values = await (await opened[rank]())[n].values(from - begin, to - begin);
        if (values.length === all.length) return values;
        all.set(values, from - first);
      }
      return all;
    },
  };
}

function requirePieces(path: string, described: unknown, digests: StoredArray | undefined, shared: number): PieceList {
  const pieces = described as Partial<PieceList> | null;
  const isCount = (n: unknown): boolean => Number.isSafeInteger(n) && (n as number) >= 0;
  const areCounts = (list: unknown): list is number[] => Array.isArray(list) && list.every(isCount);
  const isComplete =
    isFolderName(pieces?.folder) &&
    isCount(pieces.block) &&
    pieces.block! > 0 &&
    areCounts(pieces.bytes) &&
    digests?.type === "u8" &&
    digests.length === pieces.bytes.reduce((sum, bytes) => sum + digestBytes(bytes, pieces.block!), 0) &&
    Array.isArray(pieces.arrays) &&
    pieces.arrays.filter((each) => each === null).length === shared &&
    pieces.arrays.every(
      (each) => each === null || (isElementType(each?.type) && areCounts(each.counts) && each.counts.length === pieces.bytes!.length),
    );
  if (!isComplete) throw new IsoformError(`${path} is an incomplete checkpoint: it lacks the list of its pieces`);
  return pieces as PieceList;
}

/** Makes something once, when it is first asked for. */
function onceOnly<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
