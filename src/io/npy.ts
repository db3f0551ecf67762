import { readFile } from "node:fs/promises";
import { IsoformError } from "../base/errors.js";
import { bitsOfF16, valueOfF16 } from "../ir/half.js";
import type { DeviceSet } from "../set/index.js";
import { fail, writeTogether } from "./files.js";

/*
 * Arrays in NumPy's files .npy: a line of text about the array, then its values.
 */

/** Values of an array, in C order. Bigints are 64-bit integers; a text is bytes of ASCII (`S3`) without a shape. */
export type NpyValues =
  | Float64Array
  | Float32Array
  | Int32Array
  | Uint32Array
  | Int16Array
  | Uint16Array
  | Int8Array
  | Uint8Array
  | BigInt64Array
  | BigUint64Array;

/** Types of values by NumPy's names; truth values are bytes, 0 and 1. */
const TYPES = {
  "<f8": Float64Array,
  "<f4": Float32Array,
  "<i4": Int32Array,
  "<u4": Uint32Array,
  "<i2": Int16Array,
  "<u2": Uint16Array,
  "|i1": Int8Array,
  "|u1": Uint8Array,
  "<i8": BigInt64Array,
  "<u8": BigUint64Array,
  "|b1": Uint8Array,
} as const;
type TypeName = keyof typeof TYPES;

/** Floats of 16 bits, which are Float32Array here. */
const HALF = "<f2";

/** An array to be written. */
export interface NpyArray {
  /** Lengths of the axes; default: one axis. */
  readonly shape?: readonly number[];
  readonly data: NpyValues;
  /** Floats of 16 bits, to which values of a Float32Array are rounded, or truth values of a Uint8Array. Default: the type of `data`. */
  readonly type?: typeof HALF | "|b1";
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

/** Bytes of an .npy file: what is before the values, and these. */
export interface NpyParts {
  readonly head: Buffer;
  /** Bytes of the values. */
  readonly length: number;
  pieces(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/**
 * Writes one array as NumPy's .npy. Throws IsoformError for a shape that differs from the number of values.
 * @param options.set processes that have the array together, as for `writeNpz`
 */
export async function writeNpy(
  path: string,
  array: NpyArray | NpySource | NpyValues,
  { set = {} }: { readonly set?: Pick<DeviceSet, "ranks"> } = {},
): Promise<void> {
  const { head, length, pieces } = npyParts(path, "the array", array);
  const content = async function* (): AsyncGenerator<Uint8Array> {
    yield head;
    let left = length;
    for await (const piece of pieces()) {
      left -= piece.length;
      yield piece;
    }
    requireAll(path, "the array", length, left);
  };
  await writeTogether(set, path, content());
}

/**
 * Reads an array of a .npy file: numbers of 8 to 64 bits, floats of 16 bits (as Float32Array) and truth values (as bytes), little-endian or big-endian, in C
 * order or Fortran's, which comes back in C order; a single text. Throws IsoformError for other files and types.
 */
export async function readNpy(path: string): Promise<NpyRead> {
  const bytes = await readFile(path).catch((error: Error) => fail(path, "read", error));
  return parseNpy(bytes, path, "");
}

/** Throws where pieces had fewer or more bytes than they should. */
export function requireAll(path: string, what: string, length: number, left: number): void {
  if (left !== 0) throw new IsoformError(`${path} cannot be written: ${what} has ${length - left} bytes instead of ${length}`);
}

/** The bytes of an array; `what` names it in messages. Throws IsoformError. */
export function npyParts(path: string, what: string, array: NpyArray | NpySource | NpyValues | string): NpyParts {
  const wrong = (problem: string): never => {
    throw new IsoformError(`${path} cannot be written: ${problem}`);
  };
  if (typeof array === "string")
    return { head: npyHead(`|S${array.length}`, []), length: array.length, pieces: () => [Buffer.from(array, "latin1")] };
  const { shape, type, bytes, pieces } = sourceOf(array, (problem) => wrong(`${what} ${problem}`));
  const count = countOf(shape);
  if (!Number.isSafeInteger(count)) wrong(`${what} has the shape (${shape.join(", ")}): give whole numbers`);
  if (!("pieces" in array)) {
    const { length } = ArrayBuffer.isView(array) ? array : array.data;
    if (count !== length) wrong(`${what} has ${length} values and the shape (${shape.join(", ")}): make them agree`);
  }
  const made = async function* (): AsyncGenerator<Uint8Array> {
    for await (const { buffer, byteOffset, byteLength } of pieces()) yield new Uint8Array(buffer, byteOffset, byteLength);
  };
  return { head: npyHead(type, shape), length: count * bytes, pieces: made };
}

const countOf = (shape: readonly number[]): number =>
  shape.every((n) => Number.isSafeInteger(n) && n >= 0) ? shape.reduce((a, b) => a * b, 1) : NaN;

interface Source {
  readonly shape: readonly number[];
  readonly type: string;
  /** Bytes of one value. */
  readonly bytes: number;
  pieces(): Iterable<NpyValues> | AsyncIterable<NpyValues>;
}

function sourceOf(array: NpyArray | NpySource | NpyValues, wrong: (problem: string) => never): Source {
  if ("pieces" in array)
    return { shape: array.shape, type: array.type, bytes: TYPES[array.type].BYTES_PER_ELEMENT, pieces: () => array.pieces() };
  const { data, shape = [data.length], type: asked } = ArrayBuffer.isView(array) ? ({ data: array } as NpyArray) : array;
  const own = (Object.keys(TYPES) as TypeName[]).find((name) => data instanceof TYPES[name])!;
  if (asked === HALF) {
    if (!(data instanceof Float32Array)) return wrong(`is to be written as ${HALF}, which a Float32Array can: give one`);
    return { shape, type: HALF, bytes: 2, pieces: () => [Uint16Array.from(data, bitsOfF16)] };
  }
  if (asked !== undefined && own !== "|u1") return wrong(`is to be written as ${asked}, which a Uint8Array can: give one`);
  return { shape, type: asked ?? own, bytes: data.BYTES_PER_ELEMENT, pieces: () => [data] };
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

/** An array from the bytes of an .npy file; `name` is the array's in an .npz file, "" for a file of its own. */
export function parseNpy(bytes: Buffer, path: string, name: string): NpyRead {
  const wrong = (what: string): never => {
    throw new IsoformError(`${path}: the array ${name === "" ? "" : `${JSON.stringify(name)} `}${what}`);
  };
  const { type, isFortran, shape, end } = headOf(bytes, wrong);
  const [, texts] = /^\|S(\d+)$/.exec(type) ?? [];
  const little = type.replace(/^>/, "<");
  const isKnown = Object.hasOwn(TYPES, little) || little === HALF;
  if (texts === undefined ? !isKnown : shape.length > 0)
    wrong(
      `has values of the type ${type}: isoform reads ${[...Object.keys(TYPES), HALF].join(", ")}, the same big-endian, and a single |S`,
    );
  const values = little === HALF ? Uint16Array : TYPES[little as TypeName];
  const count = countOf(shape);
  const size = texts === undefined ? count * values.BYTES_PER_ELEMENT : Number(texts);
  if (bytes.length - end !== size)
    wrong(`has ${bytes.length - end} bytes, and its shape (${shape.join(", ")}) needs ${size}: fetch or write the file again`);
  if (texts !== undefined) return { shape, data: bytes.toString("latin1", end).replace(/\0+$/, "") };
  const copy = Buffer.from(new Uint8Array(bytes.subarray(end)).buffer);
  if (type.startsWith(">")) swap(copy, values.BYTES_PER_ELEMENT);
  const stored = new values(copy.buffer, 0, count);
  const data = little === HALF ? Float32Array.from(stored as Uint16Array, valueOfF16) : stored;
  return { shape, data: isFortran ? inCOrder(data, shape) : data };
}

function headOf(bytes: Buffer, wrong: (what: string) => never) {
  if (bytes.toString("latin1", 0, 6) !== "\x93NUMPY" || bytes.length < 12) wrong("is not in NumPy's format .npy");
  const start = bytes[6] === 1 ? 10 : 12;
  const end = start + (start === 10 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8));
  if (end > bytes.length) wrong("ends in its header: fetch or write the file again");
  const head = bytes.toString("latin1", start, end);
  const [, type] = /'descr': *'([^']*)'/.exec(head) ?? [];
  const [, order] = /'fortran_order': *(True|False)/.exec(head) ?? [];
  const [, axes] = /'shape': *\(([\d, ]*)\)/.exec(head) ?? [];
  if (type === undefined || order === undefined || axes === undefined)
    return wrong(`has the header ${JSON.stringify(head.slice(0, 80))}: isoform reads arrays of single types`);
  const shape = axes
    .split(",")
    .filter((text) => text.trim() !== "")
    .map(Number);
  return { type, isFortran: order === "True", shape, end };
}

function swap(bytes: Buffer, each: number): void {
  if (each === 2) bytes.swap16();
  else if (each === 4) bytes.swap32();
  else if (each === 8) bytes.swap64();
}

/** Values whose first index is contiguous, in the order in which the last one is. */
function inCOrder(data: NpyValues, shape: readonly number[]): NpyValues {
  const ordered = data.slice();
  const indices = shape.map(() => 0);
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((a, b) => a * b, 1));
  for (let place = 0, from = 0; place < data.length; place++) {
    ordered[place] = data[from]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis]!;
      if (++indices[axis]! < shape[axis]!) break;
      from -= strides[axis]! * shape[axis]!;
      indices[axis] = 0;
    }
  }
  return ordered;
}
