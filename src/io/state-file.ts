import { createHash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { endianness } from "node:os";
import { IsoformError } from "../ir/errors.js";
import { writeWhole } from "./whole-file.js";

/*
 * States of programs in files: a line with the format's name and the length of the head, the head as JSON, the values as little-endian f64, and the
 * SHA-256 of all that.
 */

/** Digits of the head's length. */
const DIGITS = 12;
const DIGEST = 32;
/** Values that are written, and read, at once. */
const CHUNK = 1 << 20;

/** What is known of a state without its values, and the values. */
export interface StateFile {
  /** As JSON has it; from a file it may be anything. */
  readonly head: unknown;
  readonly arrays: readonly Float64Array[];
}

/** Bytes of the first line. */
const lineOf = (format: string): number => format.length + DIGITS + 2;

/**
 * Writes a state, which takes the place of what is at `path` once it is whole; what was there becomes `previous`, where that is given.
 * @param format names what it is a state of, in ASCII
 * @throws the system's error; what is at `path` is then what it was
 */
export function writeState(path: string, format: string, { head, arrays }: StateFile, before?: () => Promise<void>): Promise<void> {
  return writeWhole(path, sealed(piecesOf(format, JSON.stringify({ head, lengths: arrays.map(({ length }) => length) }), arrays)), before);
}

function* piecesOf(format: string, head: string, arrays: StateFile["arrays"]): Generator<Uint8Array> {
  const text = Buffer.from(head);
  yield Buffer.from(`${format} ${String(text.length).padStart(DIGITS, "0")}\n`);
  yield text;
  for (const array of arrays)
    for (let from = 0; from < array.length; from += CHUNK) yield littleEndian(new Float64Array(array.subarray(from, from + CHUNK)));
}

/** With the digest behind. */
function* sealed(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  const digest = createHash("sha256");
  for (const piece of pieces) {
    digest.update(piece);
    yield piece;
  }
  yield digest.digest();
}

/** Reads a file of `writeState`. Throws IsoformError for one of another format, and for a damaged one; nothing is allocated that the file has not. */
export async function readState(path: string, format: string): Promise<StateFile> {
  const file = await open(path, "r").catch((error: Error) => {
    throw new IsoformError(`cannot read ${path}: ${error.message.split(",")[0]}`);
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new IsoformError(`cannot read ${path}: it is no file`);
    const values = Math.max(0, stats.size - DIGEST);
    const line = lineOf(format);
    const length = await lengthOfHead(file, path, format, values);
    const damaged = (what: string): IsoformError => new IsoformError(`${path} is no whole state: ${what}`);
    if (!(length <= values - line)) throw damaged(`its head is to have ${length} bytes, and the file has ${stats.size}`);
    const { head, lengths } = headOf(await read(file, length, line), damaged);
    const there = values - line - length;
    const needed = lengths.reduce((sum, each) => sum + 8 * each, 0);
    if (needed !== there) throw damaged(`its head tells of ${needed} bytes of values, and there are ${there}`);
    let at = line + length;
    const arrays: Float64Array[] = [];
    for (const each of lengths) {
      arrays.push(await readValues(file, each, at));
      at += 8 * each;
    }
    return { head, arrays };
  } finally {
    await file.close();
  }
}

/** The bytes of the head, of a file whose checksum is right. */
async function lengthOfHead(file: FileHandle, path: string, format: string, values: number): Promise<number> {
  const line = (await read(file, lineOf(format), 0)).toString("latin1");
  if (!line.startsWith(`${format} `))
    throw new IsoformError(`${path} is no checkpoint of ${format.replace(/ \d+$/, "")}, or of another version`);
  const digest = createHash("sha256");
  for (let at = 0; at < values; at += 8 * CHUNK) digest.update(await read(file, Math.min(8 * CHUNK, values - at), at));
  if (!digest.digest().equals(await read(file, DIGEST, values))) throw new IsoformError(`${path} is damaged: its checksum is wrong`);
  return /^\d+\n$/.test(line.slice(format.length + 1)) ? Number(line.slice(format.length)) : Number.NaN;
}

function headOf(bytes: Buffer, damaged: (what: string) => IsoformError): { head: unknown; lengths: readonly number[] } {
  let found: { head?: unknown; lengths?: unknown } | null;
  try {
    found = JSON.parse(bytes.toString()) as typeof found;
  } catch {
    throw damaged("its head is no JSON");
  }
  const lengths = found?.lengths;
  if (!Array.isArray(lengths) || !lengths.every((each) => Number.isSafeInteger(each) && each >= 0))
    throw damaged("its head does not tell the lengths of its arrays");
  return { head: found!.head, lengths: lengths as number[] };
}

async function readValues(file: FileHandle, length: number, at: number): Promise<Float64Array> {
  const array = new Float64Array(length);
  for (let from = 0; from < length; from += CHUNK) {
    const piece = array.subarray(from, from + CHUNK);
    await file.read(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength), { position: at + 8 * from });
    littleEndian(piece);
  }
  return array;
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
