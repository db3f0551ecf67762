import { IsoformError } from "../../base/errors.js";
import { writePieces } from "../files.js";
import { readUncompressed } from "./bytes.js";
import type { TableOptions } from "./ecsv.js";
import type { FitsHeader } from "./fits-header.js";
import { FITS_BLOCK, cardsOf, checksumText, axisCount, headerBytes, isFitsText, metadataOf, readFitsHeader, sumOf } from "./fits-header.js";
import { fitsColumns } from "./fits-columns.js";
import type { Column, ColumnType, Table, TableRead } from "./table.js";
import { isText, noneOf, requireTable, rowsOf } from "./table.js";

/*
 * Binary tables of FITS files (FITS standard 4.0, section 7.3), a table an extension, with DATASUM and CHECKSUM.
 */

/** Code and bytes of a value of each type; unsigned 64-bit integers are written less 2^63. */
const FORMS: Readonly<Record<Exclude<ColumnType, "text">, readonly [code: string, bytes: number]>> = {
  bool: ["L", 1],
  u8: ["B", 1],
  i16: ["I", 2],
  i32: ["J", 4],
  i64: ["K", 8],
  u64: ["K", 8],
  f32: ["E", 4],
  f64: ["D", 8],
};
const U64_ZERO = 2n ** 63n;
/** Most columns of a table. */
const MOST_COLUMNS = 999;
/** Bytes that are made at once. */
const PIECE = 8 << 20;

/** A column as it is written. */
interface Field {
  readonly column: Column;
  readonly form: string;
  /** Bytes in a row. */
  readonly bytes: number;
  /** Value that stands for a missing one. */
  readonly none?: number | bigint;
  /** Bytes of the heap in front of the column's lists. */
  readonly heap: number;
}

/**
 * Writes tables into a FITS file, an extension each (a BINTABLE with the name of the table). Keys of metadata are keywords of FITS; long texts go on in
 * CONTINUE cards. Missing integers are written as a value that the column does not have (TNULL).
 *
 * @throws IsoformError for tables that FITS cannot hold: names, units and texts beyond ASCII, more than 999 columns
 */
export async function writeFits(path: string, tables: Table | readonly Table[]): Promise<void> {
  const all = [tables].flat();
  for (const table of all) requireFits(path, table);
  await writePieces(path, fitsPieces(path, all));
}

function requireFits(path: string, table: Table): void {
  requireTable(path, table);
  const wrong = (what: string): never => {
    throw new IsoformError(`${path} cannot be written: ${what}`);
  };
  if (table.columns.length > MOST_COLUMNS)
    wrong(`FITS has at most ${MOST_COLUMNS} columns, and the table has ${table.columns.length}: write ECSV`);
  if (!isFitsText(table.name ?? "")) wrong(`FITS has names in ASCII, and the table's is ${JSON.stringify(table.name)}: rename it`);
  for (const { name, unit = "", values } of table.columns) {
    const shown = JSON.stringify(name);
    if (!isFitsText(name) || name.length > 68 || name !== name.trimEnd())
      wrong(`FITS has names of up to 68 ASCII characters, and a column is called ${shown}: rename it, or write ECSV`);
    if (!isFitsText(unit) || unit.length > 68)
      wrong(`FITS has units in ASCII, and the column ${shown} has ${JSON.stringify(unit)}: change it, or write ECSV`);
    const row = isText(values) ? values.findIndex((text) => !isFitsText(text)) : -1;
    if (row >= 0) wrong(`FITS has texts in ASCII, and row ${row + 1} of the column ${shown} has others: write ECSV`);
  }
  const names = table.columns.map(({ name }) => name.toUpperCase());
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined) wrong(`FITS does not tell capitals from small letters, and two columns are called "${twice}": rename one`);
  for (const [key, value] of Object.entries(table.metadata ?? {})) {
    if (!/^[A-Z0-9_-]{1,8}$/.test(key)) wrong(`${JSON.stringify(key)} is not a keyword of FITS: it has up to 8 of A-Z, 0-9, _ and -`);
    if (typeof value === "string" ? !isFitsText(value) : typeof value === "number" && !Number.isFinite(value))
      wrong(`the value of ${key} is not ASCII text or a finite number: leave it out`);
  }
}

function* fitsPieces(path: string, tables: readonly Table[]): Generator<Uint8Array> {
  const primary = [...cardsOf("SIMPLE", true), ...cardsOf("BITPIX", 8), ...cardsOf("NAXIS", 0), ...cardsOf("EXTEND", true)];
  yield withSums(primary, 0);
  for (const table of tables) {
    const fields = fieldsOf(path, table);
    const rows = rowsOf(table);
    const width = fields.reduce((sum, { bytes }) => sum + bytes, 0);
    const heap = fields.reduce((sum, { column }) => sum + heapBytes(column), 0);
    const cards = [
      ...cardsOf("XTENSION", "BINTABLE", "binary table"),
      ...Object.entries({ BITPIX: 8, NAXIS: 2, NAXIS1: width, NAXIS2: rows, PCOUNT: heap, GCOUNT: 1, TFIELDS: fields.length }).flatMap(
        ([key, value]) => cardsOf(key, value),
      ),
      ...(table.name ? cardsOf("EXTNAME", table.name) : []),
      ...fields.flatMap(({ column, form, none }, n) => [
        ...cardsOf(`TTYPE${n + 1}`, column.name, isFitsText(column.description ?? "") ? column.description : ""),
        ...cardsOf(`TFORM${n + 1}`, form),
        ...(column.unit ? cardsOf(`TUNIT${n + 1}`, column.unit) : []),
        ...(none === undefined ? [] : [`${`TNULL${n + 1}`.padEnd(8)}= ${String(none).padStart(20)}`.padEnd(80)]),
        ...(column.type === "u64" ? [`${`TZERO${n + 1}`.padEnd(8)}= ${String(U64_ZERO).padStart(20)}`.padEnd(80)] : []),
      ]),
      ...Object.entries(table.metadata ?? {}).flatMap(([key, value]) => cardsOf(key, value)),
    ];
    // Twice: the sum of the data comes first in the file.
    let sum = 0;
    for (const piece of dataPieces(fields, rows, width)) sum = sumOf(piece, sum);
    yield withSums(cards, sum);
    yield* dataPieces(fields, rows, width);
  }
}

/** A header with the sums of its data and of all. */
function withSums(cards: readonly string[], data: number): Buffer {
  const all = (text: string) => headerBytes([...cards, ...cardsOf("DATASUM", String(data)), ...cardsOf("CHECKSUM", text)]);
  return all(checksumText(sumOf(all("0".repeat(16)), data)));
}

/** How the columns are written. */
function fieldsOf(path: string, { columns }: Table): Field[] {
  let heap = 0;
  return columns.map((column): Field => {
    const { type, values, offsets } = column;
    if (isText(values)) {
      const bytes = values.reduce((most, text) => Math.max(most, text.length), 1);
      return { column, form: `${bytes}A`, bytes, heap };
    }
    const [code, size] = FORMS[type as Exclude<ColumnType, "text">];
    const unused = noneOf(path, column);
    const none = type === "u64" && unused !== undefined ? (unused as bigint) - U64_ZERO : unused;
    if (!offsets) return { column, form: `1${code}`, bytes: size, none, heap };
    const first = heap;
    heap += heapBytes(column);
    let longest = 0;
    for (let n = 1; n < offsets.length; n++) longest = Math.max(longest, offsets[n] - offsets[n - 1]);
    return { column, form: `1Q${code}(${longest})`, bytes: 16, none, heap: first };
  });
}

const heapBytes = ({ type, values, offsets }: Column): number =>
  offsets ? values.length * FORMS[type as Exclude<ColumnType, "text">][1] : 0;

/** Rows, then the lists, in pieces that are multiples of a block. */
function* dataPieces(fields: readonly Field[], rows: number, width: number): Generator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  const whole = function* (bytes: Buffer): Generator<Buffer> {
    const all = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
    const end = all.length - (all.length % FITS_BLOCK);
    rest = all.subarray(end);
    if (end > 0) yield all.subarray(0, end);
  };
  const some = Math.max(1, Math.floor(PIECE / Math.max(1, width)));
  for (let first = 0; first < rows; first += some) {
    const count = Math.min(some, rows - first);
    const bytes = Buffer.alloc(count * width);
    let at = 0;
    for (const field of fields) {
      putField(bytes, field, { first, count, at, width });
      at += field.bytes;
    }
    yield* whole(bytes);
  }
  for (const { column, none } of fields) {
    if (!column.offsets) continue;
    const size = FORMS[column.type as Exclude<ColumnType, "text">][1];
    const values = Math.floor(PIECE / size);
    for (let first = 0; first < column.values.length; first += values) {
      const count = Math.min(values, column.values.length - first);
      const bytes = Buffer.alloc(count * size);
      for (let n = 0; n < count; n++) putValue(bytes, n * size, column, first + n, none);
      yield* whole(bytes);
    }
  }
  if (rest.length > 0) yield Buffer.concat([rest], Math.ceil(rest.length / FITS_BLOCK) * FITS_BLOCK);
}

function putField(
  bytes: Buffer,
  { column, bytes: size, none, heap }: Field,
  { first, count, at, width }: { first: number; count: number; at: number; width: number },
): void {
  const { values, offsets, type } = column;
  for (let r = 0; r < count; r++) {
    const place = r * width + at;
    if (isText(values)) bytes.write(values[first + r].padEnd(size), place, "latin1");
    else if (offsets) {
      const start = offsets[first + r];
      bytes.writeBigInt64BE(BigInt(offsets[first + r + 1] - start), place);
      bytes.writeBigInt64BE(BigInt(heap + start * FORMS[type as Exclude<ColumnType, "text">][1]), place + 8);
    } else putValue(bytes, place, column, first + r, none);
  }
}

function putValue(bytes: Buffer, place: number, { type, values, missing }: Column, n: number, none: number | bigint | undefined): void {
  const gap = missing?.[n] === 1;
  const value = values[n];
  if (type === "bool") bytes[place] = gap ? 0 : value ? 84 : 70;
  else if (type === "u8") bytes[place] = Number(gap ? none : value);
  else if (type === "i16") bytes.writeInt16BE(Number(gap ? none : value), place);
  else if (type === "i32") bytes.writeInt32BE(Number(gap ? none : value), place);
  else if (type === "i64") bytes.writeBigInt64BE((gap ? none : value) as bigint, place);
  else if (type === "u64") bytes.writeBigInt64BE(gap ? (none as bigint) : (value as bigint) - U64_ZERO, place);
  else if (type === "f32") bytes.writeFloatBE(value as number, place);
  else bytes.writeDoubleBE(value as number, place);
}

/** Options of `readFits`. */
export interface FitsOptions extends TableOptions {
  /** Name of the table (EXTNAME). Default: the first binary table. */
  readonly table?: string;
}

/**
 * Reads a binary table of a FITS file: columns of the codes L, B, I, J, K, E, D and A, also lists of fixed and of variable length (P, Q); TSCAL, TZERO and
 * TNULL are applied, and sums are checked where the file has them. gzip is undone.
 *
 * @throws IsoformError for another file, a damaged one, and columns of other codes
 */
export async function readFits(path: string, { table, columns }: FitsOptions = {}): Promise<TableRead> {
  const file = await readUncompressed(path);
  if (file.toString("latin1", 0, 10) !== "SIMPLE  = ")
    throw new IsoformError(`${path} is not a FITS file: it does not begin with "SIMPLE  ="`);
  const names: string[] = [];
  for (let at = 0; ;) {
    const header = readFitsHeader(file, at, path);
    // Padding of zeros or blanks after the last unit is not a header.
    if (!header || !/^[A-Z0-9_-]/.test(file.toString("latin1", at, at + 1))) break;
    const size = dataSize(header, path);
    if (header.end + size > file.length)
      throw new IsoformError(`${path} is damaged: it has ${file.length} bytes and needs ${header.end + size}; fetch or write it again`);
    const end = Math.min(file.length, header.end + Math.ceil(size / FITS_BLOCK) * FITS_BLOCK);
    const name = String(header.cards.get("EXTNAME") ?? "");
    if (header.cards.get("XTENSION") === "BINTABLE" && (table === undefined || name === table)) {
      requireSums(file, at, header, end, path);
      const read = fitsColumns(file, header, path, columns && new Set(columns));
      return { ...(name ? { name } : {}), metadata: metadataOf(header), ...read, where: (row) => `${path}, row ${row + 1}` };
    }
    if (header.cards.get("XTENSION") === "BINTABLE") names.push(name || "(no name)");
    at = end;
  }
  const wanted = table === undefined ? "a binary table" : `a binary table "${table}"`;
  throw new IsoformError(`${path} does not have ${wanted}: it has ${names.join(", ") || "none"}`);
}

/** Bytes of the data of a unit. */
function dataSize(header: FitsHeader, path: string): number {
  const axes = axisCount(header, "NAXIS", path, 999);
  if (axes === 0) return 0;
  const bits = Math.abs(Number(header.cards.get("BITPIX")));
  let size = 1;
  for (let n = 1; n <= axes; n++) size *= axisCount(header, `NAXIS${n}`, path);
  const [more, groups] = ["PCOUNT", "GCOUNT"].map((key, n) => (header.cards.has(key) ? axisCount(header, key, path) : n));
  const bytes = (bits / 8) * groups * (more + size);
  if (!(Number.isSafeInteger(bytes) && [8, 16, 32, 64].includes(bits)))
    throw new IsoformError(`${path} is damaged: a unit of ${bytes} bytes (BITPIX ${bits}); fetch or write it again`);
  return bytes;
}

function requireSums(file: Buffer, at: number, { cards, end }: FitsHeader, stop: number, path: string): void {
  const whole = (bytes: Buffer): Buffer => (bytes.length % 4 === 0 ? bytes : Buffer.concat([bytes], Math.ceil(bytes.length / 4) * 4));
  const data = sumOf(whole(file.subarray(end, stop)));
  const fail = (what: string): never => {
    throw new IsoformError(`${path}: ${what} does not match: its bytes have changed; fetch or write it again`);
  };
  const expected = cards.get("DATASUM");
  if (expected !== undefined && /^\d+$/.test(String(expected)) && Number(expected) !== data) fail("DATASUM");
  if (cards.has("CHECKSUM") && String(cards.get("CHECKSUM")).trim() !== "" && sumOf(file.subarray(at, end), data) !== 0xffffffff)
    fail("CHECKSUM");
}
