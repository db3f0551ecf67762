import { dirname, join } from "node:path";
import { IsoformError } from "../base/errors.js";
import type { NumberElement } from "../ir/scalars.js";
import { agreedByAll } from "../set/job.js";
import type { Ranks } from "../set/index.js";
import { DIGEST_BLOCK, BlockDigests, CheckedFile, digestBytes } from "./block-digests.js";
import { areInOrder, inBlocks, joined, requireCover, runOf, valuesIn, type FileBlock } from "./blocks.js";
import { isForFile, requirePiece, writeByRanks, type Written } from "./by-ranks.js";
import type { PartArray } from "./checkpoint-parts.js";
import { isFolderName, pieceName } from "./piece-folder.js";
import { foldersOf, replaceCheckpoint } from "./replace-checkpoint.js";
import { isElementType, readLayout, stateBytes, type StateContent, type StoredArray } from "./state-file.js";

/*
 * Checkpoints in pieces: a state file of each process, and the index, a state file with the values that all processes have alike and the digests of the
 * pieces.
 */

/** PieceList of a checkpoint, as the index describes them. */
interface PieceList {
  /** Name of the folder beside the index. */
  readonly folder: string;
  /** Bytes of a block, for which there is a digest. */
  readonly block: number;
  /** Size of each piece, by rank. */
  readonly bytes: readonly number[];
  /** For each array of the checkpoint, what pieces have of it; null for an array of the index. */
  readonly arrays: readonly (ArrayInPieces | null)[];
}

/** An array whose values are in pieces. */
interface ArrayInPieces {
  readonly type: NumberElement;
  /** How many of its values each piece has. */
  readonly counts: readonly number[];
  /** Places of these values in the array. Default: a piece begins where the one before ends. */
  readonly blocks?: readonly (readonly FileBlock[])[];
}

/** Facts about a rank's piece. */
interface About {
  /** Digests of its blocks, one after the other. */
  readonly digests: Uint8Array;
  /** The rank's values of each array in pieces. */
  readonly blocks: readonly (readonly FileBlock[])[];
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
export async function writeInPieces(ranks: Ranks, path: string, format: string, content: Content): Promise<boolean> {
  const own = content.arrays.flatMap((array) => array.own ?? []);
  if (own.length === 0 || !(await isForFile(ranks, path))) return false;
  const passing = new BlockDigests(DIGEST_BLOCK.bytes);
  await writeByRanks<About>(ranks, {
    path,
    named: () => foldersOf(path),
    pieces: [
      {
        number: ranks.rank,
        content: (folder) => passing.through(stateBytes(format, { head: { checkpoint: folder, rank: ranks.rank }, arrays: own })),
        about: () => ({ digests: passing.digests, blocks: own.map(({ blocks }) => blocks) }),
      },
    ],
    index: (folder, all) => stateBytes(format, indexOf(folder, all, content)),
    put: (index) => replaceCheckpoint(path, index),
  });
  return true;
}

/** Content of the index. Its first array has the digests of all pieces. Throws IsoformError, alike on all ranks, where the pieces do not cover the arrays. */
function indexOf(folder: string, all: readonly Written<About>[], { head, arrays }: Content): StateContent {
  let n = 0;
  const inPieces = arrays.map(({ type, length, own }) => {
    if (!own) return null;
    const blocks = all.map(({ about }) => about.blocks[n]);
    n++;
    requireAgreedCover(blocks, length);
    return { type, counts: blocks.map(valuesIn), ...(!areInOrder(blocks) && { blocks }) };
  });
  const pieces: PieceList = { folder, block: DIGEST_BLOCK.bytes, bytes: all.map(({ bytes }) => bytes), arrays: inPieces };
  const digests = new Uint8Array(Buffer.concat(all.map(({ about }) => about.digests)));
  return { head: { ...head, pieces }, arrays: [digests, ...arrays.filter(({ own }) => !own)] };
}

function requireAgreedCover(blocks: readonly (readonly FileBlock[])[], length: number): void {
  try {
    requireCover(blocks, length);
  } catch (error) {
    throw agreedByAll(error as IsoformError);
  }
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
  return pieces.arrays.map((each) => (each === null ? shared[inIndex++] : inPieceFiles(path, each, inPieces++, opened)));
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

/** Array number `n` of the ones in pieces. Throws IsoformError where the pieces do not cover it. */
function inPieceFiles(path: string, { type, counts, blocks }: ArrayInPieces, n: number, opened: readonly Opened[]): StoredArray {
  const length = counts.reduce((sum, count) => sum + count, 0);
  let end = 0;
  const all = blocks ?? counts.map((count) => joined([runOf((end += count) - count, count)]));
  try {
    requireCover(all, length);
  } catch (error) {
    throw new IsoformError(`${path} is an incomplete checkpoint: ${(error as Error).message}`);
  }
  return inBlocks(
    type,
    length,
    all.map((each, rank) => ({ blocks: each, open: async () => (await opened[rank]())[n] })),
  );
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
    pieces.arrays.every((each: ArrayInPieces | null) => {
      if (each === null) return true;
      if (!isElementType(each?.type) || !areCounts(each.counts) || each.counts.length !== pieces.bytes!.length) return false;
      const { counts, blocks } = each;
      return blocks === undefined || (Array.isArray(blocks) && counts.every((count, n) => areBlocks(blocks[n], count)));
    });
  if (!isComplete) throw new IsoformError(`${path} is an incomplete checkpoint: it lacks the list of its pieces`);
  return pieces as PieceList;
}

/** Whether this, which may be anything, are blocks with as many values. */
function areBlocks(blocks: unknown, count: number): boolean {
  const isBlock = (block: unknown): block is FileBlock =>
    Array.isArray(block) &&
    block.length === 4 &&
    block.every((n) => Number.isSafeInteger(n) && n >= 0) &&
    block[1] * block[2] > 0 &&
    (block[2] === 1 || block[3] >= block[1]);
  return Array.isArray(blocks) && blocks.every(isBlock) && valuesIn(blocks) === count;
}

/** Makes something once, when it is first asked for. */
function onceOnly<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
