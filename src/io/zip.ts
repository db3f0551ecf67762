import type { FileHandle } from "node:fs/promises";
import { IsoformError } from "../base/errors.js";
import { readAll } from "./files.js";

/*
 * Zip archives (PKWARE's APPNOTE 6.3.9) without compression: sums follow the data, so an archive is written in one pass; sizes and offsets from 4 GiB on go into the
 * fields of zip64.
 */

/** A file in an archive. */
export interface ZipEntry {
  readonly name: string;
  readonly crc: number;
  readonly size: number;
  /** First byte of its header in the archive. */
  readonly offset: number;
}

/** From here on sizes and offsets need zip64. */
const LARGE = 0xffffffff;
/** Sum and sizes follow the data. */
const SUM_FOLLOWS = 8;
/** 1980-01-01, the first day that the format knows. */
const DAY = 33;

const TABLES = Array.from({ length: 8 }, () => new Uint32Array(256));
for (let n = 0; n < 256; n++) {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  TABLES[0][n] = c >>> 0;
}
for (let n = 0; n < 256; n++)
  for (let t = 1; t < 8; t++) TABLES[t][n] = ((TABLES[t - 1][n] >>> 8) ^ TABLES[0][TABLES[t - 1][n] & 255]) >>> 0;

/** CRC-32 of bytes, which goes on from `before`. */
export function crc32(bytes: Uint8Array, before = 0): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES;
  let c = ~before;
  let at = 0;
  for (; at + 8 <= bytes.length; at += 8) {
    c ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    c =
      t7[c & 255] ^
      t6[(c >>> 8) & 255] ^
      t5[(c >>> 16) & 255] ^
      t4[c >>> 24] ^
      t3[bytes[at + 4]] ^
      t2[bytes[at + 5]] ^
      t1[bytes[at + 6]] ^
      t0[bytes[at + 7]];
  }
  for (; at < bytes.length; at++) c = t0[(c ^ bytes[at]) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}

/** Bytes before a file's data. */
export function entryStart(name: string, size: number): Buffer {
  const id = Buffer.from(name, "latin1");
  const isLarge = size >= LARGE;
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(isLarge ? 45 : 20, 4);
  head.writeUInt16LE(SUM_FOLLOWS, 6);
  head.writeUInt16LE(DAY, 12);
  head.writeUInt16LE(id.length, 26);
  if (!isLarge) return Buffer.concat([head, id]);
  head.fill(0xff, 18, 26);
  head.writeUInt16LE(20, 28);
  const extra = Buffer.alloc(20);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(16, 2);
  return Buffer.concat([head, id, extra]);
}

/** Bytes after a file's data: its sum and sizes. */
export function entryEnd({ crc, size }: ZipEntry): Buffer {
  const isLarge = size >= LARGE;
  const end = Buffer.alloc(isLarge ? 24 : 16);
  end.writeUInt32LE(0x08074b50, 0);
  end.writeUInt32LE(crc, 4);
  for (const n of [0, 1])
    if (isLarge) end.writeBigUInt64LE(BigInt(size), 8 + 8 * n);
    else end.writeUInt32LE(size, 8 + 4 * n);
  return end;
}

/** The archive's directory, which begins at byte `start`, and its end. */
export function endOfZip(entries: readonly ZipEntry[], start: number): Buffer {
  const directory = Buffer.concat(entries.map(directoryEntry));
  const isLarge = start + directory.length >= LARGE || entries.length >= 0xffff;
  const parts = [directory];
  if (isLarge) {
    const record = Buffer.alloc(56);
    record.writeUInt32LE(0x06064b50, 0);
    record.writeBigUInt64LE(44n, 4);
    record.writeUInt16LE(45, 12);
    record.writeUInt16LE(45, 14);
    for (const at of [24, 32]) record.writeBigUInt64LE(BigInt(entries.length), at);
    record.writeBigUInt64LE(BigInt(directory.length), 40);
    record.writeBigUInt64LE(BigInt(start), 48);
    const locator = Buffer.alloc(20);
    locator.writeUInt32LE(0x07064b50, 0);
    locator.writeBigUInt64LE(BigInt(start + directory.length), 8);
    locator.writeUInt32LE(1, 16);
    parts.push(record, locator);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  const count = Math.min(entries.length, 0xffff);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(Math.min(directory.length, LARGE), 12);
  end.writeUInt32LE(isLarge ? LARGE : start, 16);
  return Buffer.concat([...parts, end]);
}

function directoryEntry({ name, crc, size, offset }: ZipEntry): Buffer {
  const id = Buffer.from(name, "latin1");
  const large = [...(size >= LARGE ? [size, size] : []), ...(offset >= LARGE ? [offset] : [])];
  const extra = Buffer.alloc(large.length > 0 ? 4 + 8 * large.length : 0);
  if (large.length > 0) {
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(8 * large.length, 2);
    for (const [n, value] of large.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * n);
  }
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE(45, 4);
  head.writeUInt16LE(large.length > 0 ? 45 : 20, 6);
  head.writeUInt16LE(SUM_FOLLOWS, 8);
  head.writeUInt16LE(DAY, 14);
  head.writeUInt32LE(crc, 16);
  for (const at of [20, 24]) head.writeUInt32LE(Math.min(size, LARGE), at);
  head.writeUInt16LE(id.length, 28);
  head.writeUInt16LE(extra.length, 30);
  head.writeUInt32LE(Math.min(offset, LARGE), 42);
  return Buffer.concat([head, id, extra]);
}

/** A file of an archive that is read. */
export interface ZipFound extends ZipEntry {
  /** 0: stored, 8: deflated. */
  readonly method: number;
  /** Bytes in the archive. */
  readonly stored: number;
  readonly dataOffset: number;
}

/** Bytes at the end of an archive in which its end record lies: the record, and the longest comment. */
const TAIL = 22 + 0xffff;

/** Reads the directory of an archive. Throws IsoformError for another file, and for entries that lie outside of the file. */
export async function readDirectory(file: FileHandle, path: string): Promise<ZipFound[]> {
  const { size } = await file.stat();
  const damaged = (what: string): never => {
    throw new IsoformError(`${path} is not a whole zip archive (.npz): ${what}; fetch or write it again`);
  };
  const at = async (place: number, length: number): Promise<Buffer> => {
    if (!(place >= 0 && length >= 0 && place + length <= size)) damaged(`${length} bytes at ${place} lie outside of its ${size}`);
    const bytes = Buffer.alloc(length);
    await readAll(file, bytes, place).catch((error: Error) => damaged(error.message));
    return bytes;
  };
  const tail = await at(Math.max(0, size - TAIL), Math.min(size, TAIL));
  const found = tail.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (found < 0 || found + 22 > tail.length) damaged("it has no directory");
  const end = tail.subarray(found);
  let [count, length, start] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)];
  if (count === 0xffff || length === LARGE || start === LARGE) {
    const locator = await at(size - tail.length + found - 20, 20);
    if (locator.readUInt32LE(0) !== 0x07064b50) damaged("its zip64 locator is missing");
    const record = await at(Number(locator.readBigUInt64LE(8)), 56);
    [count, length, start] = [32, 40, 48].map((place) => Number(record.readBigUInt64LE(place)));
  }
  const directory = await at(start, length);
  const entries: ZipFound[] = [];
  for (let place = 0; entries.length < count;) {
    if (place + 46 > directory.length || directory.readUInt32LE(place) !== 0x02014b50)
      damaged(`its directory has ${entries.length} entries instead of ${count}`);
    const head = directory.subarray(place);
    const [idLength, extraLength, commentLength] = [28, 30, 32].map((offset) => head.readUInt16LE(offset));
    const next = 46 + idLength + extraLength + commentLength;
    if (next > head.length) damaged("its directory is cut off");
    const name = head.toString("latin1", 46, 46 + idLength);
    const numbers = zip64Numbers(head, head.subarray(46 + idLength, 46 + idLength + extraLength));
    if (!numbers) return damaged(`the sizes of ${JSON.stringify(name)} are missing`);
    const [full, stored, offset] = numbers;
    const method = head.readUInt16LE(10);
    if ((head.readUInt16LE(8) & 1) !== 0 || (method !== 0 && method !== 8))
      throw new IsoformError(
        `${path}: ${JSON.stringify(name)} is encrypted or packed by the method ${method}: isoform reads stored and deflated files`,
      );
    const local = await at(offset, 30);
    if (local.readUInt32LE(0) !== 0x04034b50) damaged(`${JSON.stringify(name)} does not begin at byte ${offset}`);
    const dataOffset = offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
    if (dataOffset + stored > size || (method === 0 && stored !== full))
      damaged(`${JSON.stringify(name)} has ${stored} bytes at ${dataOffset}, beyond the file`);
    entries.push({ name, crc: head.readUInt32LE(16), size: full, stored, offset, method, dataOffset });
    place += next;
  }
  return entries;
}

/** Size, stored size and offset of an entry of the directory. */
function zip64Numbers(head: Buffer, extra: Buffer): readonly [number, number, number] | undefined {
  const numbers = [head.readUInt32LE(24), head.readUInt32LE(20), head.readUInt32LE(42)];
  if (!numbers.includes(LARGE)) return numbers as unknown as readonly [number, number, number];
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let place = at + 4;
    for (const [n, value] of numbers.entries()) {
      if (value !== LARGE) continue;
      if (place + 8 > extra.length) return undefined;
      numbers[n] = Number(extra.readBigUInt64LE(place));
      place += 8;
    }
    return numbers as unknown as readonly [number, number, number];
  }
  return undefined;
}
