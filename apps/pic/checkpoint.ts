import { createHash } from "node:crypto";
import { access, open, rename, rm, type FileHandle } from "node:fs/promises";
import { endianness } from "node:os";
import { IsoformError } from "isoform";
import type { Row } from "./run.js";
import type { State } from "./simulation.js";

/*
 * A file is a line with the length of the head, the head as JSON, the values as little-endian f64, and the SHA-256 of all that.
 */

const FORMAT = "isoform pic 2";
const LINE = FORMAT.length + 14;
const DIGEST = 32;
/** Values that are written, and read, at once. */
const CHUNK = 1 << 20;

/** A run that can be gone on with. */
export interface Checkpoint<O> {
  readonly options: O;
  readonly rows: readonly Row[];
  readonly state: State;
}

interface Head<O> extends Omit<Checkpoint<O>, "state">, Omit<State, "arrays"> {
  readonly lengths: readonly number[];
}

/** Where the checkpoint is that one at `path` took the place of. */
export const previousOf = (path: string): string => `${path}.previous`;

/**
 * Writes a checkpoint beside what is at `path`, then puts it there and keeps that as `previousOf(path)`: whatever happens, one of both is whole.
 * Throws IsoformError where it cannot.
 */
export async function writeCheckpoint<O>(path: string, { options, rows, state }: Checkpoint<O>): Promise<void> {
  const { arrays, ...rest } = state;
  const head: Head<O> = { options, rows, ...rest, lengths: arrays.map(({ length }) => length) };
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeSynced(temporary, piecesOf(JSON.stringify(head), arrays));
    if (await exists(path)) await rename(path, previousOf(path));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new IsoformError(`cannot write ${path}: ${(error as Error).message.split(",")[0]}`);
  }
}

function* piecesOf(head: string, arrays: State["arrays"]): Generator<Uint8Array> {
  const text = Buffer.from(head);
  yield Buffer.from(`${FORMAT} ${String(text.length).padStart(LINE - FORMAT.length - 2, "0")}\n`);
  yield text;
  for (const array of arrays)
    for (let from = 0; from < array.length; from += CHUNK) {
      yield littleEndian(new Float64Array(array.subarray(from, from + CHUNK)));
    }
}

async function writeSynced(path: string, pieces: Iterable<Uint8Array>): Promise<void> {
  const file = await open(path, "w");
  try {
    const digest = createHash("sha256");
    for (const piece of pieces) {
      digest.update(piece);
      await file.writeFile(piece);
    }
    await file.writeFile(digest.digest());
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Reads a file of `writeCheckpoint`. Throws IsoformError for another, for a damaged one with where the one before is. */
export async function readCheckpoint<O>(path: string): Promise<Checkpoint<O>> {
  try {
    return await readWhole<O>(path);
  } catch (error) {
    if (!(error instanceof IsoformError)) throw error;
    const before = previousOf(path);
    const isWhole = await readWhole(before).then(
      () => true,
      () => false,
    );
    throw isWhole ? new IsoformError(`${error.message}; the one before it is whole: --restart ${before}`) : error;
  }
}

async function readWhole<O>(path: string): Promise<Checkpoint<O>> {
  const file = await open(path, "r").catch((error: Error) => {
    throw new IsoformError(`cannot read ${path}: ${error.message.split(",")[0]}`);
  });
  try {
    const length = await lengthOfHead(file, path);
    const { lengths, options, rows, ...rest } = JSON.parse((await read(file, length, LINE)).toString()) as Head<O>;
    const arrays: Float64Array[] = [];
    let at = LINE + length;
    for (const values of lengths) {
      const array = new Float64Array(values);
      for (let from = 0; from < values; from += CHUNK) {
        const piece = array.subarray(from, from + CHUNK);
        await file.read(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength), { position: at });
        littleEndian(piece);
        at += piece.byteLength;
      }
      arrays.push(array);
    }
    return { options, rows, state: { ...rest, arrays } };
  } finally {
    await file.close();
  }
}

/** The bytes of the head, of a file whose checksum is right. Throws IsoformError for another. */
async function lengthOfHead(file: FileHandle, path: string): Promise<number> {
  const { size } = await file.stat();
  const line = (await read(file, LINE, 0)).toString("latin1");
  if (!line.startsWith(`${FORMAT} `)) throw new IsoformError(`${path} is no checkpoint of isoform pic, or of another version`);
  const digest = createHash("sha256");
  const end = Math.max(0, size - DIGEST);
  for (let at = 0; at < end; at += 8 * CHUNK) digest.update(await read(file, Math.min(8 * CHUNK, end - at), at));
  if (!digest.digest().equals(await read(file, DIGEST, end))) throw new IsoformError(`${path} is damaged: its checksum is wrong`);
  return Number(line.slice(FORMAT.length));
}

/** The bytes there, fewer at the end of the file. */
async function read(file: FileHandle, length: number, position: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), { position });
  return buffer.subarray(0, bytesRead);
}

/** The bytes of values, turned round in place where the machine has them the other way. */
function littleEndian({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return endianness() === "LE" ? bytes : bytes.swap64();
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
