import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Compressors, FileMetaData, SchemaElement } from "hyparquet";
import { IsoformError } from "../../base/errors.js";
import { fail, writePieces } from "../files.js";
import {
  isFloatColumn,
  requireTable,
  rowsOf,
  valuesOf,
  type Column,
  type ColumnType,
  type ColumnValues,
  type Table,
  type TableRead,
} from "./table.js";

/*
 * Tables in Apache Parquet, by the packages hyparquet and hyparquet-writer.
 */

/** Options of `readParquet`. */
export interface ParquetOptions {
  /** Names of the columns that are read; by default all are. */
  readonly columns?: readonly string[];
}

/** Says why Parquet files cannot be written and read, and what would help; undefined if they can. */
export async function parquetMissing(): Promise<{ reason: string; remedy: string } | undefined> {
  for (const name of ["hyparquet", "hyparquet-writer"] as const)
    try {
      await (name === "hyparquet" ? import("hyparquet") : import("hyparquet-writer"));
    } catch (error) {
      const absent = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
      const reason = absent ? "is not installed" : `does not load: ${(error as Error).message}`;
      return { reason: `the package ${name} ${reason}`, remedy: "npm install hyparquet hyparquet-writer" };
    }
  return undefined;
}

async function requireLibrary(path: string): Promise<void> {
  const missing = await parquetMissing();
  if (missing) throw new IsoformError(`${path} is a Parquet file, and ${missing.reason}: ${missing.remedy}`);
}

/** Compressions beside Snappy's; Zstandard where this Node has it. */
const COMPRESSORS: Compressors = { GZIP: (input) => gunzipSync(input), BROTLI: (input) => brotliDecompressSync(input) };

/** Key of the text that our files have besides columns. */
const KEY = "isoform";
interface Notes {
  readonly name?: string;
  readonly metadata?: Table["metadata"];
  readonly columns?: ReadonlyMap<string, Pick<Column, "unit" | "description">>;
}

/**
 * Reads a table of a Parquet file: numbers, truth values and texts, a value a row, uncompressed or by Snappy, gzip or Brotli. Integers of 8 bits come as i16, without a
 * sign of 16 bits as i32, of 32 bits as i64; floats of 16 bits as f32. Throws IsoformError for another file, a damaged one, other columns (dates,
 * decimals, lists), which `columns` leaves out, and where a package is missing.
 */
export async function readParquet(path: string, { columns: wanted }: ParquetOptions = {}): Promise<TableRead> {
  await requireLibrary(path);
  const { asyncBufferFromFile, parquetMetadataAsync, parquetRead, parquetSchema } = await import("hyparquet");
  const file = await asyncBufferFromFile(path).catch((error: Error) => fail(path, "read", error));
  const damaged = (error: Error): never => {
    if (error instanceof IsoformError) throw error;
    throw new IsoformError(`${path} is not a whole Parquet file: ${error.message}; fetch or write it again`);
  };
  const metadata = await parquetMetadataAsync(file).catch(damaged);
  const children = parquetSchema(metadata).children.filter(({ element }) => !wanted || wanted.includes(element.name));
  const rows = Number(metadata.num_rows);
  const growing = new Map(
    children.map(({ element, children: inner }) => [element.name, new ParquetColumn(path, element, inner.length, rows)]),
  );
  for (const name of wanted ?? [])
    if (!growing.has(name))
      throw new IsoformError(`${path}: no column ${JSON.stringify(name)}: it has ${columnNames(metadata).join(", ") || "none"}`);
  if (rows > 0 && growing.size > 0)
    await parquetRead({
      file,
      metadata,
      columns: [...growing.keys()],
      compressors: COMPRESSORS,
      onChunk: ({ columnName, columnData, rowStart }) => growing.get(columnName)!.take(columnData as ArrayLike<unknown>, Number(rowStart)),
    }).catch(damaged);
  const notes = notesOf(metadata);
  return {
    ...(notes.name !== undefined && { name: notes.name }),
    ...(notes.metadata && { metadata: notes.metadata }),
    columns: [...growing.values()].map((column) => ({ ...column.finish(), ...notes.columns?.get(column.name) })),
    rows,
    where: (row) => `${path}, row ${row + 1}`,
  };
}

const columnNames = ({ schema }: FileMetaData): string[] => schema.slice(1).map(({ name }) => name);

/** Texts that a file has for our tables; other programs may have written anything there. */
function notesOf({ key_value_metadata: all }: FileMetaData): Notes {
  const text = all?.find(({ key }) => key === KEY)?.value;
  let found: unknown;
  try {
    found = text === undefined ? undefined : JSON.parse(text);
  } catch {
    return {};
  }
  const { name, metadata, columns } = (found ?? {}) as Record<string, unknown>;
  const isValue = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);
  const entries = (object: unknown): [string, unknown][] => (typeof object === "object" && object ? Object.entries(object) : []);
  const own = Object.fromEntries(entries(metadata).filter(([, value]) => isValue(value))) as Table["metadata"];
  const texts = (notes: unknown) =>
    Object.fromEntries(entries(notes).filter(([key, value]) => ["unit", "description"].includes(key) && typeof value === "string"));
  return {
    ...(typeof name === "string" && { name }),
    ...(metadata !== undefined && { metadata: own }),
    columns: new Map(entries(columns).map(([column, notes]) => [column, texts(notes)])),
  };
}

/** Types of whole numbers by the file's words for them; a missing word stands for all bits. */
const INTEGERS: ReadonlyMap<string, ColumnType> = new Map([
  ["INT32 ", "i32"],
  ["INT32 INT_32", "i32"],
  ["INT32 INT_16", "i16"],
  ["INT32 INT_8", "i16"],
  ["INT32 UINT_8", "u8"],
  ["INT32 UINT_16", "i32"],
  ["INT32 UINT_32", "i64"],
  ["INT64 ", "i64"],
  ["INT64 INT_64", "i64"],
  ["INT64 UINT_64", "u64"],
]);

function typeOf({ type, converted_type: converted, logical_type: logical }: SchemaElement): ColumnType | undefined {
  if (type === "BOOLEAN") return "bool";
  if (type === "DOUBLE") return "f64";
  if (type === "FLOAT") return "f32";
  if (type === "FIXED_LEN_BYTE_ARRAY") return logical?.type === "FLOAT16" ? "f32" : undefined;
  if (type === "BYTE_ARRAY") return converted === "UTF8" || logical?.type === "STRING" ? "text" : undefined;
  if (logical && logical.type !== "INTEGER") return undefined;
  const word = converted ?? (logical ? `${logical.isSigned ? "" : "U"}INT_${logical.bitWidth}` : "");
  return INTEGERS.get(`${type} ${word}`);
}

/** A column that its chunks fill. */
class ParquetColumn {
  readonly name: string;
  private readonly type: ColumnType;
  private readonly numbers: Exclude<ColumnValues, readonly string[]> | undefined;
  private readonly texts: string[] = [];
  private missing: Uint8Array | undefined;

  constructor(
    private readonly path: string,
    element: SchemaElement,
    inner: number,
    private readonly rows: number,
  ) {
    this.name = element.name;
    const type = inner > 0 || element.repetition_type === "REPEATED" ? undefined : typeOf(element);
    if (!type) {
      const kind =
        inner > 0 ? "lists or records" : (element.converted_type ?? element.logical_type?.type ?? element.type ?? "values").toLowerCase();
      throw new IsoformError(
        `${path}: the column ${JSON.stringify(element.name)} has ${kind}, and isoform reads numbers, truth values and texts: leave it out by the option columns`,
      );
    }
    this.type = type;
    if (type === "text") this.texts.length = rows;
    else this.numbers = valuesOf(type, rows);
  }

  take(values: ArrayLike<unknown>, start: number): void {
    for (let n = 0; n < values.length && start + n < this.rows; n++)
      this.put(start + n, values[n] as number | bigint | string | boolean | null | undefined);
  }

  private put(row: number, value: number | bigint | string | boolean | null | undefined): void {
    const { numbers, type } = this;
    if (!numbers) {
      this.texts[row] = typeof value === "string" ? value : "";
      return;
    }
    if (value === null || value === undefined) {
      if (isFloatColumn(type)) numbers[row] = NaN;
      else (this.missing ??= new Uint8Array(this.rows))[row] = 1;
    } else if (type === "i64" || type === "u64") (numbers as BigInt64Array)[row] = BigInt(value);
    else (numbers as Float64Array)[row] = Number(value);
  }

  finish(): Column {
    const { name, type, numbers, missing } = this;
    return { name, type, values: numbers ?? this.texts, ...(missing && { missing }) };
  }
}

type Written = Parameters<(typeof import("hyparquet-writer"))["parquetWriteBuffer"]>[0];
type ElementWritten = NonNullable<Written["schema"]>[number];
type DataWritten = Written["columnData"][number]["data"];

/** The file's types of columns. */
const TYPES: Readonly<Record<ColumnType, Pick<ElementWritten, "type" | "converted_type">>> = {
  bool: { type: "BOOLEAN" },
  u8: { type: "INT32", converted_type: "UINT_8" },
  i16: { type: "INT32", converted_type: "INT_16" },
  i32: { type: "INT32" },
  i64: { type: "INT64" },
  u64: { type: "INT64", converted_type: "UINT_64" },
  f32: { type: "FLOAT" },
  f64: { type: "DOUBLE" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
};

/**
 * Writes a table as Parquet, compressed by Snappy, with its name, units and descriptions as JSON under the key "isoform". Missing integers are nulls. Throws
 * IsoformError for columns of lists, and where a package is missing.
 */
export async function writeParquet(path: string, table: Table): Promise<void> {
  requireTable(path, table);
  await requireLibrary(path);
  const lists = table.columns.find(({ offsets }) => offsets);
  if (lists) throw new IsoformError(`${path} cannot be written: the column ${JSON.stringify(lists.name)} has lists: write FITS or VOTable`);
  if (table.columns.length === 0) throw new IsoformError(`${path} cannot be written: the table has no columns: Parquet needs one`);
  const { parquetWriteBuffer } = await import("hyparquet-writer");
  const schema: ElementWritten[] = [
    { name: "root", num_children: table.columns.length },
    ...table.columns.map(({ name, type, missing }): ElementWritten => ({
      name,
      ...TYPES[type],
      repetition_type: missing ? "OPTIONAL" : "REQUIRED",
    })),
  ];
  const notes = {
    ...(table.name !== undefined && { name: table.name }),
    ...(table.metadata && { metadata: table.metadata }),
    columns: Object.fromEntries(
      table.columns.flatMap(({ name, unit, description }) => ((unit ?? description) ? [[name, { unit, description }]] : [])),
    ) as object,
  };
  const bytes = parquetWriteBuffer({
    columnData: table.columns.map((column) => ({ name: column.name, data: dataOf(column) })),
    schema,
    rowGroupSize: Math.max(1, Math.min(rowsOf(table), ROW_GROUP)),
    kvMetadata: [{ key: KEY, value: JSON.stringify(notes) }],
    createdBy: "isoform",
  });
  await writePieces(path, [new Uint8Array(bytes)]);
}

/** Rows that readers of files take at once. */
const ROW_GROUP = 1 << 17;

function dataOf({ type, values, missing }: Column): DataWritten {
  const all = values as ArrayLike<number | bigint | string> & Iterable<unknown>;
  if (type !== "bool" && !missing) return all as DataWritten;
  return Array.from(all, (value, n) => (missing?.[n] ? null : type === "bool" ? value !== 0 : value));
}
