import { inflateRawSync } from "node:zlib";
import { open, type FileHandle } from "node:fs/promises";
import { IsoformError } from "../base/errors.js";
import type { DeviceSet } from "../set/index.js";
import { fail, readAll, writeTogether } from "./files.js";
import { crc32, endOfZip, entryEnd, entryStart, readDirectory, type ZipEntry } from "./zip.js";

/*
 * Arrays in NumPy's files: .npz, a zip of .npy files, each a line of text about the array, then its values, little-endian. SciPy keeps sparse matrices in them
 * (scipy.sparse.load_npz). Written uncompressed and in pieces, with zip64 where sizes need it.
 */

/** Values of an array, in C order. Bigints are 64-bit integers; a text is bytes of ASCII (`S3`) without a shape. */
export type NpyValues = Float64Array | Float32Array | Int32Array | Uint32Array | Int16Array | Uint8Array | BigInt64Array | BigUint64Array;

/** Types of values by NumPy's names. */
const TYPES = {
  "<f8": Float64Array,
  "<f4": Float32Array,
  "<i4": Int32Array,
  "<u4": Uint32Array,
  "<i2": Int16Array,
  "|u1": Uint8Array,
  "<i8": BigInt64Array,
  "<u8": BigUint64Array,
} as const;
type TypeName = keyof typeof TYPES;

/** An array to be written. */
export interface NpyArray {
  /** Lengths of the axes; default: one axis. */
  readonly shape?: readonly number[];
  readonly data: NpyValues;
}

/** An array whose values are made when their turn comes, some at a time. */
export interface NpySource {
  readonly shape: readonly number[];
  readonly type: TypeName;
  /** All values in order, in pieces of any length. */
  pieces(): Iterable<NpyValues> | AsyncIterable<NpyValues>;
}

/** An array from a file. */
export interface NpyRead {
  readonly shape: readonly number[];
  readonly data: NpyValues | string;
}

/**
 * Writes arrays by name into an .npz file, one after the other. A string becomes NumPy's bytes of that length. Throws IsoformError for names that are not
 * printable ASCII, shapes that differ from the number of values, and texts beyond ASCII.
 * @param options.set processes that have the arrays together: all call this with equal arrays, whose pieces may come from any of them, and rank 0 writes
 */
export async function writeNpz(
  path: string,
  arrays: Readonly<Record<string, NpyArray | NpySource | NpyValues | string>>,
  { set = {} }: { readonly set?: Pick<DeviceSet, "ranks"> } = {},
): Promise<void> {
  const wrong = (what: string): never => {
    throw new IsoformError(`${path} cannot be written: ${what}`);
  };
  const all = Object.entries(arrays).map(([name, array]) => {
    if (!/^[!-.0-~]{1,200}$/.test(name))
      wrong(`${JSON.stringify(name)} is not an array's name: it has up to 200 ASCII characters, without spaces and /`);
    if (typeof array === "string") {
      if (!/^[ -~]+$/.test(array)) wrong(`the text "${name}" is empty, or not ASCII`);
      return { name, head: npyHead(`|S${array.length}`, []), length: array.length, pieces: () => [Buffer.from(array, "latin1")] };
    }
    const source = sourceOf(array);
    const count = countOf(source.shape);
    if (!Number.isSafeInteger(count)) wrong(`the array "${name}" has the shape (${source.shape.join(", ")}): give whole numbers`);
    if (!("pieces" in array)) {
      const { length } = ArrayBuffer.isView(array) ? array : array.data;
      if (count !== length) wrong(`the array "${name}" has ${length} values and the shape (${source.shape.join(", ")}): make them agree`);
    }
    const pieces = async function* () {
      for await (const { buffer, byteOffset, byteLength } of source.pieces()) yield new Uint8Array(buffer, byteOffset, byteLength);
    };
    return { name, head: npyHead(source.type, source.shape), length: count * TYPES[source.type].BYTES_PER_ELEMENT, pieces };
  });
  await writeTogether(set, path, zipPieces(path, all));
}

const countOf = (shape: readonly number[]): number =>
  shape.every((n) => Number.isSafeInteger(n) && n >= 0) ? shape.reduce((a, b) => a * b, 1) : NaN;

function sourceOf(array: NpyArray | NpySource | NpyValues): NpySource {
  if ("pieces" in array) return array;
  const { data, shape = [data.length] } = ArrayBuffer.isView(array) ? { data: array } : array;
  const type = (Object.keys(TYPES) as TypeName[]).find((name) => data instanceof TYPES[name])!;
  return { shape, type, pieces: () => [data] };
}

/** The text before an array's values. */
function npyHead(type: string, shape: readonly number[]): Buffer {
  const axes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${axes}), }`;
  const size = Math.ceil((10 + text.length + 1) / 64) * 64;
  const head = Buffer.alloc(size, " ");
  head.write("\x93NUMPY\x01\x00", "latin1");
  head.writeUInt16LE(size - 10, 8);
  head.write(text, 10, "latin1");
  head.write("\n", size - 1, "latin1");
  return head;
}

interface Entry {
  readonly name: string;
  readonly head: Buffer;
  /** Bytes of the values. */
  readonly length: number;
  pieces(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

async function* zipPieces(path: string, entries: readonly Entry[]): AsyncGenerator<Uint8Array> {
  const written: ZipEntry[] = [];
  let at = 0;
  for (const { name, head, length, pieces } of entries) {
    const size = head.length + length;
    const start = entryStart(`${name}.npy`, size);
    yield start;
    yield head;
    let crc = crc32(head);
    let left = length;
    for await (const piece of pieces()) {
      left -= piece.length;
      crc = crc32(piece, crc);
      yield piece;
    }
    if (left !== 0)
      throw new IsoformError(`${path} cannot be written: the array "${name}" has ${length - left} bytes instead of ${length}`);
    const entry = { name: `${name}.npy`, crc, size, offset: at };
    const end = entryEnd(entry);
    yield end;
    written.push(entry);
    at += start.length + size + end.length;
  }
  yield endOfZip(written, at);
}

/** Options of `readNpz`. */
export interface NpzOptions {
  /** Names of the arrays that are read; by default all are. */
  readonly arrays?: readonly string[];
}

/**
 * Reads arrays of an .npz file by name: numbers of 8, 16, 32 and 64 bits and texts, stored or deflated (`numpy.savez_compressed`). Throws IsoformError for
 * another file, a damaged one, and arrays of other types.
 */
export async function readNpz(path: string, { arrays: wanted }: NpzOptions = {}): Promise<Record<string, NpyRead>> {
  const file = await open(path, "r").catch((error: Error) => fail(path, "read", error));
  try {
    const found: Record<string, NpyRead> = {};
    for (const entry of await readDirectory(file, path)) {
      const name = entry.name.replace(/\.npy$/, "");
      if (wanted && !wanted.includes(name)) continue;
      Object.defineProperty(found, name, { value: await readEntry(file, path, entry), enumerable: true });
    }
    return found;
  } finally {
    await file.close();
  }
}

/** Most bytes of an array that is read. */
const MOST = 2 ** 31 - 1;

async function readEntry(file: FileHandle, path: string, entry: Awaited<ReturnType<typeof readDirectory>>[number]): Promise<NpyRead> {
  const damaged = (what: string): never => {
    throw new IsoformError(`${path} is damaged: the array ${JSON.stringify(entry.name)} ${what}; fetch or write the file again`);
  };
  if (entry.size > MOST)
    throw new IsoformError(`${path}: the array ${JSON.stringify(entry.name)} has ${entry.size} bytes, more than 2 GiB: read it with NumPy`);
  let bytes: Buffer = Buffer.alloc(entry.stored);
  await readAll(file, bytes, entry.dataOffset).catch((error: Error) => damaged(`is cut off: ${error.message}`));
  if (entry.method === 8) {
    try {
      bytes = inflateRawSync(bytes, { maxOutputLength: Math.max(1, entry.size) });
    } catch (error) {
      damaged(`cannot be inflated: ${(error as Error).message}`);
    }
  }
  if (bytes.length !== entry.size) damaged(`has ${bytes.length} bytes instead of ${entry.size}`);
  if (crc32(bytes) !== entry.crc) damaged("does not match its checksum");
  return parseNpy(bytes, path, entry.name);
}

/** An array from the bytes of an .npy file. */
function parseNpy(bytes: Buffer, path: string, name: string): NpyRead {
  const wrong = (what: string): never => {
    throw new IsoformError(`${path}: the array ${JSON.stringify(name)} ${what}`);
  };
  if (bytes.toString("latin1", 0, 6) !== "\x93NUMPY" || bytes.length < 12) wrong("is not in NumPy's format .npy");
  const start = bytes[6] === 1 ? 10 : 12;
  const end = start + (start === 10 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8));
  if (end > bytes.length) wrong("ends in its header: fetch or write the file again");
  const head = bytes.toString("latin1", start, end);
  const [, type] = /'descr': *'([^']*)'/.exec(head) ?? [];
  const [, order] = /'fortran_order': *(True|False)/.exec(head) ?? [];
  const [, axes] = /'shape': *\(([\d, ]*)\)/.exec(head) ?? [];
  if (type === undefined || order === undefined || axes === undefined)
    wrong(`has the header ${JSON.stringify(head.slice(0, 80))}: isoform reads arrays of single types`);
  const shape = axes
    .split(",")
    .filter((text) => text.trim() !== "")
    .map(Number);
  if (order === "True" && shape.filter((n) => n > 1).length > 1) wrong("is in Fortran's order: write numpy.ascontiguousarray of it");
  const count = countOf(shape);
  const [, texts] = /^\|S(\d+)$/.exec(type) ?? [];
  const values = TYPES[type as TypeName];
  if (texts === undefined ? !Object.hasOwn(TYPES, type) : shape.length > 0)
    wrong(`has values of the type ${type}: isoform reads ${Object.keys(TYPES).join(", ")} and a single |S`);
  const size = texts === undefined ? count * values.BYTES_PER_ELEMENT : Number(texts);
  if (bytes.length - end !== size)
    wrong(`has ${bytes.length - end} bytes, and its shape (${shape.join(", ")}) needs ${size}: fetch or write the file again`);
  if (texts !== undefined) return { shape, data: bytes.toString("latin1", end).replace(/\0+$/, "") };
  const copy = new Uint8Array(bytes.subarray(end));
  return { shape, data: new values(copy.buffer, 0, count) };
}
