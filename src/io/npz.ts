import { inflateRawSync } from "node:zlib";
import { open, type FileHandle } from "node:fs/promises";
import { IsoformError } from "../base/errors.js";
import type { DeviceSet } from "../set/index.js";
import { fail, readAll, writeTogether } from "./files.js";
import { npyParts, parseNpy, requireAll, type NpyArray, type NpyParts, type NpyRead, type NpySource, type NpyValues } from "./npy.js";
import { crc32, endOfZip, entryEnd, entryStart, readDirectory, type ZipEntry } from "./zip.js";

/*
 * Arrays in NumPy's files: .npz, a zip of .npy files, each a line of text about the array, then its values, little-endian. SciPy keeps sparse matrices in them
 * (scipy.sparse.load_npz). Written uncompressed and in pieces, with zip64 where sizes need it.
 */

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
    if (typeof array === "string" && !/^[ -~]+$/.test(array)) wrong(`the text "${name}" is empty, or not ASCII`);
    return { name, ...npyParts(path, `the array "${name}"`, array) };
  });
  await writeTogether(set, path, zipPieces(path, all));
}

interface Entry extends NpyParts {
  readonly name: string;
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
    requireAll(path, `the array "${name}"`, length, left);
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
