import { IsoformError } from "../../base/errors.js";

/*
 * Tables: columns of equal length with names, types and units, as the files of astronomy hold them (ECSV, FITS, VOTable).
 */

/** Types of columns. 64-bit integers are bigints here: numbers of JavaScript hold 53 bits. */
export const COLUMN_TYPES = ["bool", "u8", "i16", "i32", "i64", "u64", "f32", "f64", "text"] as const;
/** Type of a column's values: `bool` is 0 or 1 in bytes, `text` is strings. */
export type ColumnType = (typeof COLUMN_TYPES)[number];

/** Arrays that hold the values of each type. */
const ARRAYS = {
  bool: Uint8Array,
  u8: Uint8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

/** Values of a column. */
export type ColumnValues =
  | Uint8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array
  | readonly string[];

/** A column of a table. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** As files have it: `deg`, `mas/yr`. */
  readonly unit?: string;
  readonly description?: string;
  /** A value a row; with `offsets`, the lists of all rows one after the other. */
  readonly values: ColumnValues;
  /** First value of each row's list, and the end of the last: `rows` + 1 entries. Absent where each row has one value. */
  readonly offsets?: ArrayLike<number>;
  /** 1 for each missing value; floats that are missing are NaN, texts are empty. Absent where none is missing, and for floats and texts. */
  readonly missing?: Uint8Array;
}

/** Single values by name that a file has for a table as a whole. */
export type Metadata = Readonly<Record<string, string | number | boolean>>;

/** A table. */
export interface Table {
  readonly name?: string;
  readonly metadata?: Metadata;
  readonly columns: readonly Column[];
}

/** A table from a file. */
export interface TableRead extends Table {
  readonly rows: number;
  /** Place of a row for messages: `stars.ecsv:17`, or `stars.fits, row 5`. */
  readonly where: (row: number) => string;
}

/** Empty values of a type. */
export function valuesOf(type: Exclude<ColumnType, "text">, length: number): Exclude<ColumnValues, readonly string[]> {
  return new ARRAYS[type](length);
}

export const isText = (values: ColumnValues): values is readonly string[] => Array.isArray(values);
export const isFloatColumn = (type: ColumnType): boolean => type === "f32" || type === "f64";

/** Number of rows. */
export const rowsOf = ({ columns }: Table): number => {
  const [first] = columns;
  if (!first) return 0;
  return first.offsets ? first.offsets.length - 1 : first.values.length;
};

// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\ud800-\udfff\ufffe\uffff]/u;

/** Throws IsoformError for a table that no file can hold: columns of different lengths, names that are missing, occur twice or have control characters. */
export function requireTable(path: string, table: Table): void {
  const wrong = (what: string): never => {
    throw new IsoformError(`${path} cannot be written: ${what}`);
  };
  const rows = rowsOf(table);
  const names = new Set<string>();
  for (const column of table.columns) {
    const { name, type, values, offsets, missing, unit = "", description = "" } = column;
    const shown = JSON.stringify(name);
    if (name === "" || CONTROLS.test(name)) wrong(`${shown} is not a column's name: it needs characters, and no control characters`);
    if (CONTROLS.test(unit) || CONTROLS.test(description))
      wrong(`unit or description of the column ${shown} has control characters: leave them out`);
    if (names.has(name)) wrong(`two columns have the name ${shown}: rename one`);
    names.add(name);
    if (type === "text" ? !isText(values) : !(values instanceof ARRAYS[type]))
      wrong(`the column ${shown} of type ${type} needs ${type === "text" ? "an array of strings" : `a ${ARRAYS[type].name}`}`);
    const length = offsets ? offsets.length - 1 : values.length;
    if (length !== rows) wrong(`the column ${shown} has ${length} rows, and the first one ${rows}: give all the same`);
    if (offsets && !isOffsets(offsets, values.length))
      wrong(`the offsets of the column ${shown} do not rise from 0 to its ${values.length} values`);
    if (offsets && type === "text") wrong(`the column ${shown} has lists of texts: give a text a row`);
    if (missing && missing.length !== values.length)
      wrong(`the column ${shown} has ${values.length} values, and ${missing.length} entries in missing`);
  }
}

function isOffsets(offsets: ArrayLike<number>, end: number): boolean {
  for (let n = 1; n < offsets.length; n++) if (!(offsets[n] >= offsets[n - 1])) return false;
  return offsets[0] === 0 && offsets[offsets.length - 1] === end;
}

/** The column of this name. Throws IsoformError, with the names that the table has. */
export function columnOf(table: Table, name: string, path: string): Column {
  const found = table.columns.find((column) => column.name === name);
  if (found) return found;
  const names = table.columns.map((column) => column.name);
  const all = names.slice(0, 12).join(", ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");
  throw new IsoformError(`${path}: no column ${JSON.stringify(name)}: it has ${all || "none"}`);
}

/** Values of a column of numbers as f64, NaN where they are missing. Throws IsoformError for texts. */
export function numbersOf({ name, values, missing }: Column, path: string): Float64Array {
  if (isText(values)) throw new IsoformError(`${path}: the column ${JSON.stringify(name)} has texts, and numbers are needed`);
  if (values instanceof Float64Array) return values;
  const numbers = new Float64Array(values.length);
  for (let n = 0; n < numbers.length; n++) numbers[n] = missing?.[n] ? NaN : Number(values[n]);
  return numbers;
}

/** A column that grows, for readers of text. */
export class ColumnBuilder {
  private numbers: Exclude<ColumnValues, readonly string[]> | undefined;
  private readonly texts: string[] = [];
  private gaps: Uint8Array | undefined;
  private length = 0;

  constructor(readonly type: ColumnType) {
    this.numbers = type === "text" ? undefined : valuesOf(type, 1024);
  }

  /** Adds a value, undefined for a missing one. Returns false for text that is not a value of the type. */
  add(text: string | undefined): boolean {
    const { type } = this;
    if (!this.numbers) {
      this.texts.push(text ?? "");
      this.length++;
      return true;
    }
    if (this.length === this.numbers.length) this.grow();
    if (text === undefined) {
      if (isFloatColumn(type)) this.numbers[this.length] = NaN;
      else (this.gaps ??= new Uint8Array(this.numbers.length))[this.length] = 1;
      this.length++;
      return true;
    }
    const value = parseValue(type as Exclude<ColumnType, "text">, text);
    if (value === undefined) return false;
    this.numbers[this.length++] = value;
    return true;
  }

  private grow(): void {
    const next = valuesOf(this.type as Exclude<ColumnType, "text">, 2 * this.length);
    (next as Float64Array).set(this.numbers as Float64Array);
    this.numbers = next;
    if (!this.gaps) return;
    const gaps = new Uint8Array(2 * this.length);
    gaps.set(this.gaps);
    this.gaps = gaps;
  }

  /** The values that were added. */
  finish(): Pick<Column, "type" | "values" | "missing"> {
    const { type, numbers, texts, gaps, length } = this;
    if (!numbers) return { type, values: texts };
    return { type, values: numbers.slice(0, length), ...(gaps ? { missing: gaps.slice(0, length) } : {}) };
  }
}

/** Least and largest value of each type of integers. */
const RANGE = {
  u8: [0n, 255n],
  i16: [-(2n ** 15n), 2n ** 15n - 1n],
  i32: [-(2n ** 31n), 2n ** 31n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
  u64: [0n, 2n ** 64n - 1n],
} as const;

/** A value of a column of integers that it does not have, to stand for missing ones; undefined where none is missing. Throws IsoformError where all occur. */
export function noneOf(path: string, { name, type, values, missing }: Column): number | bigint | undefined {
  if (!missing?.includes(1) || isText(values) || isFloatColumn(type) || type === "bool") return undefined;
  const there = new Set<string>();
  for (let n = 0; n < values.length; n++) if (!missing[n]) there.add(String(values[n]));
  const [least, most] = RANGE[type as keyof typeof RANGE];
  for (
    let value: bigint = type === "u8" || type === "u64" ? most : least;
    value >= least && value <= most;
    value += type === "u8" || type === "u64" ? -1n : 1n
  )
    if (!there.has(String(value))) return type === "i64" || type === "u64" ? value : Number(value);
  throw new IsoformError(
    `${path} cannot be written: the column "${name}" has missing values and every value that ${type} has: give it a wider type`,
  );
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const WORDS: Readonly<Record<string, number>> = {
  nan: NaN,
  inf: Infinity,
  "+inf": Infinity,
  "-inf": -Infinity,
  infinity: Infinity,
  "+infinity": Infinity,
  "-infinity": -Infinity,
};

/** Reads a value; undefined for text that is not one, and for integers that the type does not hold. */
export function parseValue(type: Exclude<ColumnType, "text">, text: string): number | bigint | undefined {
  if (type === "bool") return /^(true|t|1)$/i.test(text) ? 1 : /^(false|f|0)$/i.test(text) ? 0 : undefined;
  if (type === "f32" || type === "f64") {
    if (NUMBER.test(text)) return Number(text);
    return Object.hasOwn(WORDS, text.toLowerCase()) ? WORDS[text.toLowerCase()] : undefined;
  }
  if (!/^[+-]?\d{1,20}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  const [least, most] = RANGE[type];
  if (value < least || value > most) return undefined;
  return type === "i64" || type === "u64" ? value : Number(value);
}
