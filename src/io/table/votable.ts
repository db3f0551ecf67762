import { IsoformError } from "../../base/errors.js";
import { writePieces } from "../files.js";
import { attributesText, escape } from "../xml.js";
import type { Column, ColumnType, Table } from "./table.js";
import { isText, noneOf, requireTable, rowsOf } from "./table.js";

/*
 * Writer of VOTable 1.4 (International Virtual Observatory Alliance): XML with a description of the columns, and rows in base64 (BINARY2).
 */

/** Names of types, and bytes of a value. */
export const VOTABLE_TYPES: Readonly<Record<Exclude<ColumnType, "text" | "u64">, readonly [name: string, bytes: number]>> = {
  bool: ["boolean", 1],
  u8: ["unsignedByte", 1],
  i16: ["short", 2],
  i32: ["int", 4],
  i64: ["long", 8],
  f32: ["float", 4],
  f64: ["double", 8],
};
/** Bytes of rows that are made at once: base64 makes four characters of three. */
const PIECE = 3 << 20;

/**
 * Writes tables into a VOTable file, each with its name, metadata (PARAM) and rows. Throws IsoformError for tables that VOTable cannot hold: it has no
 * unsigned 64-bit integers.
 */
export async function writeVotable(path: string, tables: Table | readonly Table[]): Promise<void> {
  const all = [tables].flat();
  for (const table of all) {
    requireTable(path, table);
    const unsigned = table.columns.find(({ type }) => type === "u64");
    if (unsigned)
      throw new IsoformError(
        `${path} cannot be written: VOTable has no unsigned 64-bit integers, and the column "${unsigned.name}" has them: give i64 or text`,
      );
  }
  await writePieces(path, votablePieces(path, all));
}

function* votablePieces(path: string, tables: readonly Table[]): Generator<string> {
  const root = { version: "1.4", xmlns: "http://www.ivoa.net/xml/VOTable/v1.3" };
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<VOTABLE${attributesText(root)}>\n<RESOURCE type="results">\n`;
  for (const table of tables) {
    yield `<TABLE${attributesText({ ...(table.name ? { name: table.name } : {}), nrows: rowsOf(table) })}>\n`;
    for (const [name, value] of Object.entries(table.metadata ?? {}))
      yield `<PARAM${attributesText({ name, ...paramOf(value), value: typeof value === "boolean" ? (value ? "T" : "F") : String(value) })}/>\n`;
    const nones = table.columns.map((column) => (column.offsets ? noneOf(path, column) : undefined));
    for (const [n, column] of table.columns.entries()) yield fieldText(column, nones[n]);
    yield `<DATA><BINARY2><STREAM encoding="base64">\n`;
    yield* base64(rowPieces(table, nones));
    yield "</STREAM></BINARY2></DATA>\n</TABLE>\n";
  }
  yield "</RESOURCE>\n</VOTABLE>\n";
}

const paramOf = (value: string | number | boolean): { datatype: string; arraysize?: string } => {
  if (typeof value === "number") return { datatype: "double" };
  return typeof value === "boolean" ? { datatype: "boolean" } : { datatype: textType(value), arraysize: "*" };
};

/** `char` is ASCII. */
// oxlint-disable-next-line no-control-regex
const textType = (text: string): "char" | "unicodeChar" => (/^[\u0000-\u007f]*$/.test(text) ? "char" : "unicodeChar");
const textTypeOf = (values: readonly string[]): "char" | "unicodeChar" =>
  values.every((text) => textType(text) === "char") ? "char" : "unicodeChar";

/** `none` stands for missing values in lists. */
function fieldText({ name, type, unit, description, values, offsets }: Column, none: number | bigint | undefined): string {
  const datatype = isText(values) ? textTypeOf(values) : VOTABLE_TYPES[type as "f64"][0];
  const about = { name, datatype, ...(offsets || isText(values) ? { arraysize: "*" } : {}), ...(unit ? { unit } : {}) };
  const inside = `${description ? `<DESCRIPTION>${escape(description)}</DESCRIPTION>` : ""}${none === undefined ? "" : `<VALUES null="${none}"/>`}`;
  return inside === "" ? `<FIELD${attributesText(about)}/>\n` : `<FIELD${attributesText(about)}>${inside}</FIELD>\n`;
}

/** Lines of base64 of bytes that come in pieces. */
function* base64(pieces: Iterable<Buffer>): Generator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for (const piece of pieces) {
    const all = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    const whole = all.length - (all.length % 3);
    rest = all.subarray(whole);
    if (whole > 0) yield `${all.toString("base64", 0, whole)}\n`;
  }
  if (rest.length > 0) yield `${rest.toString("base64")}\n`;
}

/** Rows: a bit a column that is set where the value is missing, then the values, big-endian. */
function* rowPieces(table: Table, nones: readonly (number | bigint | undefined)[]): Generator<Buffer> {
  const { columns } = table;
  const mask = Math.ceil(columns.length / 8);
  const texts = columns.map(({ values }) => isText(values) && textTypeOf(values));
  let parts: Buffer[] = [];
  let size = 0;
  const rows = rowsOf(table);
  for (let row = 0; row < rows; row++) {
    const cells = columns.map((column, n) => cellBytes(column, row, texts[n], nones[n]));
    const gaps = Buffer.alloc(mask);
    for (const [n, { missing, offsets }] of columns.entries()) if (!offsets && missing?.[row]) gaps[n >> 3] |= 0x80 >> (n & 7);
    const bytes = Buffer.concat([gaps, ...cells]);
    parts.push(bytes);
    size += bytes.length;
    if (size < PIECE) continue;
    yield Buffer.concat(parts);
    parts = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(parts);
}

function cellBytes(
  { type, values, offsets, missing }: Column,
  row: number,
  text: false | "char" | "unicodeChar",
  none: number | bigint | undefined,
): Buffer {
  if (isText(values)) {
    const bytes = text === "char" ? Buffer.from(values[row], "latin1") : Buffer.from(values[row], "utf16le").swap16();
    const head = Buffer.alloc(4);
    head.writeUInt32BE(text === "char" ? bytes.length : bytes.length / 2);
    return Buffer.concat([head, bytes]);
  }
  const [first, end] = offsets ? [offsets[row], offsets[row + 1]] : [row, row + 1];
  const head = offsets ? 4 : 0;
  const bytes = Buffer.alloc(head + (end - first) * VOTABLE_TYPES[type as "f64"][1]);
  if (offsets) bytes.writeUInt32BE(end - first);
  for (let n = first, at = head; n < end; n++)
    at = putValue(bytes, at, type, missing?.[n] && none !== undefined ? none : values[n], missing?.[n] === 1);
  return bytes;
}

/** Writes a value and returns the place after it. */
function putValue(bytes: Buffer, at: number, type: ColumnType, value: number | bigint, isMissing: boolean): number {
  if (type === "bool") return bytes.writeUInt8(isMissing ? 63 : value ? 84 : 70, at);
  if (type === "u8") return bytes.writeUInt8(value as number, at);
  if (type === "i16") return bytes.writeInt16BE(value as number, at);
  if (type === "i32") return bytes.writeInt32BE(value as number, at);
  if (type === "i64") return bytes.writeBigInt64BE(value as bigint, at);
  if (type === "f32") return bytes.writeFloatBE(value as number, at);
  return bytes.writeDoubleBE(value as number, at);
}
