import { createHash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { endianness } from "node:os";
import { typedArray, type TypedArray } from "../device/memory/view.js";
import { IsoformError } from "../base/errors.js";
import { BYTES, ELEMENTS, hostType, isHalf, type NumberElement } from "../ir/scalars.js";
import { writeWhole } from "./whole-file.js";

/*
 * States of programs in files: a line with the format's name and the length of the head, the head as JSON, the values, little-endian, and the
 * SHA-256 of all that.
 */

/** Digits of the head's length. */
const DIGITS = 12;
/** Bytes of a SHA-256 digest. */
export const DIGEST_BYTES = 32;
/** Bytes that are written, and read, at once; of a multiple of all elements. */
const CHUNK = 1 << 23;
/** Longest first line that is looked for. */
const LONGEST_LINE = 256;

/** A state: its description, and its values. */
export interface StateFile {
  /** Any JSON; unchecked where it comes from a file. */
  readonly head: unknown;
  readonly arrays: readonly TypedArray[];
}

/** An array of a state to be written, whose values are asked for when its turn comes. */
export interface StateArray {
  readonly type: NumberElement;
  readonly length: number;
  /** All values, in one array or in several one after the other. */
  values(): Promise<TypedArray> | AsyncIterable<TypedArray>;
}

/** A state to be written. */
export interface StateContent {
  readonly head: unknown;
  readonly arrays: readonly (TypedArray | StateArray)[];
}

/** A run of the values of an array. */
export interface Run {
  readonly first: number;
  readonly end: number;
}

/** An array of a state in a file. */
export interface StoredArray {
  readonly type: NumberElement;
  readonly length: number;
  /** Default: all values. Throws IsoformError where the file is another one by now. */
  values(first?: number, end?: number): Promise<TypedArray>;
}

/** A state whose values are asked for one array at a time, or some of one. */
interface StateReader {
  readonly head: unknown;
  readonly arrays: readonly StoredArray[];
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly digest: string;
}

/** Bytes of the first line. */
const lineOf = (format: string): number => format.length + DIGITS + 2;

/**
 * Writes a state, which takes the place of what is at `path` once it is whole.
 * @param format names what it is a state of, in ASCII
 * @param before is called when everything is on the disk, right before it takes that place
 * @throws the system's error; what is at `path` is then what it was
 */
export function writeState(path: string, format: string, { head, arrays }: StateContent, before?: () => Promise<void>): Promise<void> {
  return writeWhole(path, stateBytes(format, { head, arrays }), before);
}

/** The bytes of a state, whose values are asked for as they are taken. */
export function stateBytes(format: string, { head, arrays }: StateContent): AsyncGenerator<Uint8Array> {
  const all = arrays.map((array) => (ArrayBuffer.isView(array) ? ready(array) : array));
  const text = JSON.stringify({ head, lengths: all.map(({ length }) => length), types: all.map(({ type }) => type) });
  return sealed(piecesOf(format, text, all));
}

const ready = (array: TypedArray): StateArray => ({ type: typeOf(array), length: array.length, values: async () => array });

async function* piecesOf(format: string, head: string, arrays: readonly StateArray[]): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(head);
  yield Buffer.from(`${format} ${String(text.length).padStart(DIGITS, "0")}\n`);
  yield text;
  for (const array of arrays) yield* valuesOf(array);
}

/** A generator of its own, which lets go of the values at its end. */
async function* valuesOf({ type, length, values }: StateArray): AsyncGenerator<Uint8Array> {
  const given = values();
  const step = CHUNK / BYTES[type];
  let written = 0;
  for await (const array of given instanceof Promise ? [given] : given) {
    written += array.length;
    if (written > length || typeOf(array) !== type) throw new Error(`${written} values in place of ${length} of ${type}`);
    // Copied: files do not take shared memory.
    for (let from = 0; from < array.length; from += step) yield littleEndian(bytesOf(array.slice(from, from + step)), type);
  }
  if (written !== length) throw new Error(`${written} values in place of ${length} of ${type}`);
}

/** Adds the digest after the pieces. */
async function* sealed(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const digest = createHash("sha256");
  for await (const piece of pieces) {
    digest.update(piece);
    yield piece;
  }
  yield digest.digest();
}

/** Reads a file of `writeState`. Throws IsoformError for one of another format, and for a damaged one; nothing is allocated that the file has not. */
export async function readState(path: string, format: string): Promise<StateFile> {
  const { head, arrays } = await openState(path, format);
  const values: TypedArray[] = [];
  for (const array of arrays) values.push(await array.values());
  return { head, arrays: values };
}

/** The same, with values read from the file when they are asked for. */
export async function openState(path: string, format: string): Promise<StateReader> {
  return withFile(path, async (file) => {
    const { size } = await file.stat();
    const end = Math.max(0, size - DIGEST_BYTES);
    requireFormat((await read(file, lineOf(format), 0)).toString("latin1"), path, format);
    const digest = await checksumOf(file, path, end);
    const source: StateSource = {
      path,
      size,
      read: (into, position) =>
        withFile(path, async (again) => {
          if ((await again.stat()).size !== size || !(await read(again, DIGEST_BYTES, end)).equals(digest))
            throw new IsoformError(`${path} changed while it was read: read it again`);
          await fill(again, into, position);
        }),
    };
    return { ...(await readLayout(source, format)), digest: digest.toString("hex") };
  });
}

/** Bytes of a state's file, checked before or while they are read. */
export interface StateSource {
  readonly path: string;
  readonly size: number;
  /** Fills `into` from a place of the file on. Throws IsoformError where the bytes are not the ones that were written. */
  read(into: Uint8Array, position: number): Promise<void>;
}

/** Reads the description of a state, and finds its arrays. Throws IsoformError for lengths that do not fit the file. */
export async function readLayout(source: StateSource, format: string): Promise<Omit<StateReader, "digest">> {
  const { path, size } = source;
  const end = Math.max(0, size - DIGEST_BYTES);
  const first = Buffer.alloc(Math.min(lineOf(format), size));
  await source.read(first, 0);
  const line = requireFormat(first.toString("latin1"), path, format);
  const length = lengthOfHead(line.slice(format.length + 1));
  const damaged = (what: string): IsoformError => new IsoformError(`${path} is damaged or not a state file: ${what}`);
  const begin = line.length;
  if (!(length <= end - begin)) throw damaged(`its head should have ${length} bytes, and the file has ${size}`);
  const text = Buffer.alloc(length);
  await source.read(text, begin);
  const { head, lengths, types } = headOf(text, damaged);
  const sizes = lengths.map((each, n) => each * BYTES[types[n]]);
  const there = end - begin - length;
  const needed = sizes.reduce((sum, each) => sum + each, 0);
  if (needed !== there) throw damaged(`its head announces ${needed} bytes of values, and the file has ${there}`);
  let at = begin + length;
  const arrays = lengths.map((each, n): StoredArray => {
    const [from, type] = [at, types[n]];
    at += sizes[n];
    return {
      type,
      length: each,
      values: async (start = 0, stop = each) => {
        const array = typedArray(type, stop - start) as TypedArray;
        const bytes = bytesOf(array);
        await source.read(bytes, from + start * BYTES[type]);
        littleEndian(bytes, type);
        return array;
      },
    };
  });
  return { head, arrays };
}

/** The description in a file whose bytes are not checked. Throws an error where there is none. */
export async function peekHead(path: string): Promise<unknown> {
  return withFile(path, async (file) => {
    const start = (await read(file, LONGEST_LINE, 0)).toString("latin1");
    const line = start.slice(0, start.indexOf("\n") + 1);
    const length = lengthOfHead(line.slice(-DIGITS - 1));
    const { size } = await file.stat();
    if (!(length <= size)) throw new IsoformError(`${path} is not a state file`);
    return headOf(await read(file, length, line.length), (what) => new IsoformError(`${path} is not a state file: ${what}`)).head;
  });
}

export async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, "r").catch((error: Error) => {
    throw new IsoformError(`cannot read ${path}: ${error.message.split(",")[0]}`);
  });
  try {
    if (!(await file.stat()).isFile()) throw new IsoformError(`cannot read ${path}: it is not a file`);
    return await use(file);
  } finally {
    await file.close();
  }
}

/** The first line. Throws IsoformError for another format. */
function requireFormat(line: string, path: string, format: string): string {
  if (!line.startsWith(`${format} `))
    throw new IsoformError(`${path} is not a checkpoint of ${format.replace(/ \d+$/, "")}, or was written by another version`);
  return line;
}

/** Bytes of the head; NaN where the end of the first line does not tell. */
const lengthOfHead = (digits: string): number => (/^\d+\n$/.test(digits) ? Number(digits) : Number.NaN);

/** The checksum at `end`. Throws IsoformError where the bytes before have another one. */
async function checksumOf(file: FileHandle, path: string, end: number): Promise<Buffer> {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(Math.min(CHUNK, end));
  for (let at = 0; at < end; at += chunk.length) {
    const { bytesRead } = await file.read(chunk, { position: at, length: Math.min(chunk.length, end - at) });
    hash.update(chunk.subarray(0, bytesRead));
  }
  const digest = hash.digest();
  if (!digest.equals(await read(file, DIGEST_BYTES, end))) throw new IsoformError(`${path} is damaged: its checksum is wrong`);
  return digest;
}

interface Head {
  readonly head: unknown;
  readonly lengths: readonly number[];
  readonly types: readonly NumberElement[];
}

function headOf(bytes: Buffer, damaged: (what: string) => IsoformError): Head {
  let found: { head?: unknown; lengths?: unknown; types?: unknown } | null;
  try {
    found = JSON.parse(bytes.toString()) as typeof found;
  } catch {
    throw damaged("its head is not JSON");
  }
  const lengths = found?.lengths;
  if (!Array.isArray(lengths) || !lengths.every((each) => Number.isSafeInteger(each) && each >= 0))
    throw damaged("its head lacks the lengths of its arrays");
  // All were f64 once.
  const types = found!.types ?? lengths.map(() => "f64");
  if (!Array.isArray(types) || types.length !== lengths.length || !types.every(isElementType))
    throw damaged("its head lacks the types of its arrays");
  return { head: found!.head, lengths: lengths as number[], types: types as NumberElement[] };
}

/** Fills bytes from a place of a file on, as far as it goes. */
async function fill(file: FileHandle, into: Uint8Array, position: number): Promise<void> {
  for (let from = 0; from < into.length; from += CHUNK) await file.read(into.subarray(from, from + CHUNK), { position: position + from });
}

/** The bytes there, fewer at the end of the file. */
async function read(file: FileHandle, length: number, position: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), { position });
  return buffer.subarray(0, bytesRead);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: TypedArray): Buffer => Buffer.from(buffer, byteOffset, byteLength);

/** The bytes, turned round in place where the machine has them the other way. */
function littleEndian(bytes: Buffer, type: NumberElement): Buffer {
  if (endianness() === "LE" || BYTES[type] === 1) return bytes;
  return BYTES[type] === 8 ? bytes.swap64() : BYTES[type] === 2 ? bytes.swap16() : bytes.swap32();
}

const TYPES = new Map<Function, NumberElement>(
  (Object.keys(ELEMENTS) as NumberElement[]).flatMap((type) => (hostType(type) === type ? [[ELEMENTS[type].array, type]] : [])),
);
const typeOf = (array: TypedArray): NumberElement => TYPES.get(array.constructor)!;
export const isElementType = (type: unknown): boolean =>
  typeof type === "string" && Object.hasOwn(ELEMENTS, type) && !isHalf(type as NumberElement);
