import { IsoformError } from "../../base/errors.js";
import { writePieces } from "../files.js";
import { readLines } from "./bytes.js";
import { DATATYPES, readEcsvHeader } from "./ecsv-header.js";
import type { Column, ColumnType, Metadata, Table, TableRead } from "./table.js";
import { COLUMN_TYPES, ColumnBuilder, isFloatColumn, isText, requireTable, rowsOf } from "./table.js";

/*
 * ECSV 1.0, text tables with names, types and units (astropy's APE 6), and tables of values separated by commas without that header.
 */

/** Options of `writeEcsv`. */
export interface EcsvOptions {
  /** Between the values of a row. Default: a comma. */
  readonly delimiter?: "," | " ";
}

/** Options of readers of tables. */
export interface TableOptions {
  /** Names of the columns that are read; by default all are. A name that the file lacks is left out. */
  readonly columns?: readonly string[];
  /** Types of columns by name, for values separated by commas without a header; by default the values decide. */
  readonly types?: Readonly<Record<string, ColumnType>>;
}

const NAMES: Readonly<Record<ColumnType, string>> = {
  bool: "bool",
  u8: "uint8",
  i16: "int16",
  i32: "int32",
  i64: "int64",
  u64: "uint64",
  f32: "float32",
  f64: "float64",
  text: "string",
};
/** Rows that are made into text at once. */
const BLOCK = 4096;

/**
 * Writes a table as ECSV 1.0. Numbers have the digits that give their bits back; missing values are empty, and so is a text without characters.
 * Throws IsoformError for tables that cannot be written: lists in rows have no place in it.
 */
export async function writeEcsv(path: string, table: Table, { delimiter = "," }: EcsvOptions = {}): Promise<void> {
  requireTable(path, table);
  const list = table.columns.find(({ offsets }) => offsets);
  if (list)
    throw new IsoformError(
      `${path} cannot be written: ECSV has a value a row, and the column "${list.name}" has lists: write FITS or VOTable`,
    );
  if (table.columns.length === 0) throw new IsoformError(`${path} cannot be written: ECSV needs a column`);
  await writePieces(path, ecsvPieces(table, delimiter));
}

function* ecsvPieces(table: Table, delimiter: string): Generator<string> {
  const { columns, metadata = {} } = table;
  const head = ["%ECSV 1.0", "---", ...(delimiter === "," ? ["delimiter: ','"] : []), "datatype:"];
  for (const { name, type, unit, description } of columns) {
    const parts = [`name: ${quoted(name)}`, ...(unit ? [`unit: ${quoted(unit)}`] : []), `datatype: ${NAMES[type]}`];
    head.push(`- {${[...parts, ...(description ? [`description: ${quoted(description)}`] : [])].join(", ")}}`);
  }
  const all = Object.entries({ ...(table.name === undefined ? {} : { name: table.name }), ...metadata });
  if (all.length > 0)
    head.push("meta:", ...all.map(([key, value]) => `  ${quoted(key)}: ${typeof value === "string" ? quoted(value) : numberText(value)}`));
  head.push("schema: astropy-2.0");
  yield head.map((line) => `# ${line}\n`).join("") + `${columns.map(({ name }) => cell(name, delimiter)).join(delimiter)}\n`;
  const rows = rowsOf(table);
  for (let first = 0; first < rows; first += BLOCK) {
    let text = "";
    for (let row = first; row < Math.min(rows, first + BLOCK); row++)
      text += `${columns.map((column) => cell(valueText(column, row), delimiter)).join(delimiter)}\n`;
    yield text;
  }
}

/** Text in quotes, as JSON has it, which YAML reads alike. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

const numberText = (value: number | boolean): string => {
  if (typeof value === "boolean" || Number.isFinite(value)) return Object.is(value, -0) ? "-0.0" : String(value);
  return Number.isNaN(value) ? ".nan" : value > 0 ? ".inf" : "-.inf";
};

/** Text of a value; undefined where it is missing. */
function valueText({ type, values, missing }: Column, row: number): string | undefined {
  if (isText(values)) return values[row] === "" ? undefined : values[row];
  if (missing?.[row]) return undefined;
  const value = values[row];
  if (type === "bool") return value ? "True" : "False";
  if (!isFloatColumn(type)) return String(value);
  const number = value as number;
  if (Number.isFinite(number)) return Object.is(number, -0) ? "-0.0" : String(number);
  return Number.isNaN(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

/** A value between delimiters: in quotes where it has some character of the format's own. */
const cell = (text: string | undefined, delimiter: string): string =>
  text === undefined ? '""' : /["\n\r#]|^\s|\s$|^$/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;

/**
 * Reads a table of text: ECSV, or names and values separated by commas, whose types are then found from the values (whole numbers, numbers, text). Lines
 * that begin with # are comments there. gzip is undone.
 *
 * @throws IsoformError with file and line for another file
 */
export async function readEcsv(path: string, { columns: wanted, types = {} }: TableOptions = {}): Promise<TableRead> {
  const reader = new TextReader(path, wanted && new Set(wanted), types);
  for await (const [line, number] of readLines(path)) reader.line(line, number);
  return reader.finish();
}

interface TextColumn {
  readonly name: string;
  readonly unit?: string;
  readonly description?: string;
  /** Absent for columns that nobody wants. */
  readonly builder?: ColumnBuilder;
}

class TextReader {
  private readonly head: string[] = [];
  private readonly headLines: number[] = [];
  private isEcsv = false;
  private isBody = false;
  private delimiter = ",";
  private columns: TextColumn[] | undefined;
  private header: ReturnType<typeof readEcsvHeader> | undefined;
  private readonly lineOfRow: number[] = [];
  /** A record whose quotes are open at a line's end, and the line on which it began. */
  private open = "";
  private openLine = 0;

  constructor(
    private readonly path: string,
    private readonly wanted: ReadonlySet<string> | undefined,
    private readonly types: Readonly<Record<string, ColumnType>>,
  ) {}

  line(text: string, number: number): void {
    if (number === 1 && /^# %ECSV \d/.test(text)) {
      if (!/^# %ECSV (0\.9|1\.\d)$/.test(text.trimEnd())) this.fail(number, `the version "${text.slice(2).trim()}" is not known: 1.0 is`);
      this.isEcsv = true;
      return;
    }
    if (!this.isBody && text.startsWith("#")) {
      if (!this.isEcsv || text.trim() === "# ---") return;
      this.head.push(text.replace(/^# ?/, ""));
      this.headLines.push(number);
      return;
    }
    if (this.open === "" && (text.trim() === "" || (text.startsWith("#") && !this.isEcsv))) return;
    if (this.open === "") this.openLine = number;
    const record = this.open === "" ? text : `${this.open}\n${text}`;
    this.open = "";
    const cells = this.cellsOf(record);
    if (!cells) {
      this.open = record;
      return;
    }
    if (!this.columns) this.begin(cells, this.openLine);
    else this.row(cells, this.openLine);
  }

  private begin(names: readonly string[], number: number): void {
    this.isBody = true;
    if (new Set(names).size < names.length)
      this.fail(number, `two columns have the name "${names.find((n, at) => names.indexOf(n) !== at)}"`);
    const isWanted = (name: string) => this.wanted?.has(name) ?? true;
    if (!this.isEcsv) {
      this.columns = names.map((name) => ({ name, builder: isWanted(name) ? new ColumnBuilder(this.typeOf(name) ?? "text") : undefined }));
      return;
    }
    const { columns } = this.headerRead();
    if (columns.length !== names.length || columns.some(({ name }, n) => name !== names[n]))
      this.fail(number, `the names "${names.slice(0, 8).join(" ")}" are not the header's ${columns.length} columns`);
    for (const { name, subtype } of columns)
      if (subtype !== undefined && isWanted(name))
        this.fail(number, `the column "${name}" has the subtype ${subtype}: isoform reads single values here; leave it out or write FITS`);
    this.columns = columns.map(({ name, datatype, unit, description }) => ({
      name,
      ...(unit ? { unit } : {}),
      ...(description ? { description } : {}),
      builder: isWanted(name) ? new ColumnBuilder(DATATYPES[datatype]) : undefined,
    }));
  }

  /** Type that the caller has given for a column. */
  private typeOf(name: string): ColumnType | undefined {
    return Object.hasOwn(this.types, name) ? this.types[name] : undefined;
  }

  /** Reads the header, whose delimiter the first record needs. */
  private headerRead(): ReturnType<typeof readEcsvHeader> {
    this.header ??= readEcsvHeader(this.head, (line) => `${this.path}:${this.headLines[line] ?? 1}`);
    return this.header;
  }

  private row(cells: readonly string[], number: number): void {
    const columns = this.columns!;
    if (cells.length !== columns.length) this.fail(number, `${cells.length} values, and the table has ${columns.length} columns`);
    this.lineOfRow.push(number);
    for (const [n, { name, builder }] of columns.entries()) {
      if (!builder) continue;
      const isMissing = cells[n] === "" || (this.isEcsv && builder.type !== "text" && cells[n] === "null");
      if (!builder.add(isMissing ? undefined : cells[n]))
        this.fail(number, `${JSON.stringify(cells[n].slice(0, 40))} in the column "${name}" is not a value of the type ${builder.type}`);
    }
  }

  /** Cells of a record; undefined where a quote is still open. */
  private cellsOf(record: string): string[] | undefined {
    if (this.isEcsv && !this.columns) this.delimiter = this.headerRead().delimiter;
    const { delimiter } = this;
    if (!record.includes('"')) return delimiter === " " ? record.trim().split(/ +/) : record.split(",").map((text) => text.trim());
    const cells: string[] = [];
    let at = 0;
    for (;;) {
      while (record[at] === " ") at++;
      if (record[at] === '"') {
        let text = "";
        for (at++; ; at++) {
          const end = record.indexOf('"', at);
          if (end < 0) return undefined;
          text += record.slice(at, end);
          at = end + 1;
          if (record[at] !== '"') break;
          text += '"';
        }
        cells.push(text);
        while (record[at] === " " && delimiter !== " ") at++;
      } else {
        let end = record.indexOf(delimiter, at);
        if (end < 0) end = record.length;
        cells.push(record.slice(at, end).trim());
        at = end;
      }
      if (at >= record.length) return cells;
      if (record[at] !== delimiter) this.fail(this.openLine, "a quote is followed by more text: put a delimiter between");
      at++;
      if (delimiter === " " && record.slice(at).trim() === "") return cells;
    }
  }

  finish(): TableRead {
    const { path, lineOfRow } = this;
    if (this.open !== "") this.fail(this.openLine, "a quote is open at the end of the file: close it");
    if (!this.columns) throw new IsoformError(`${path} is not a table: it has no line with the names of columns`);
    const columns = this.columns.flatMap(({ builder, ...about }): Column[] => {
      if (!builder) return [];
      const found = builder.finish();
      return [
        { ...about, ...(this.isEcsv || this.typeOf(about.name) !== undefined ? found : inferred(found.values as readonly string[])) },
      ];
    });
    const where = (row: number): string => `${path}:${lineOfRow[row]}`;
    const metadata: Metadata = this.isEcsv ? this.headerRead().meta : {};
    return { columns, metadata, rows: lineOfRow.length, where };
  }

  private fail(number: number, what: string): never {
    throw new IsoformError(`${this.path}:${number}: ${what}`);
  }
}

/** Values of the first type that holds all texts: whole numbers as i64, numbers as f64, else the texts. */
function inferred(texts: readonly string[]): Pick<Column, "type" | "values" | "missing"> {
  const tried = COLUMN_TYPES.filter((type) => type === "i64" || type === "f64");
  for (const type of tried) {
    const builder = new ColumnBuilder(type);
    // A column without values is one of numbers that are missing.
    const isEmpty = type === "i64" && texts.every((text) => text === "");
    if (!isEmpty && texts.every((text) => builder.add(text === "" || text === "null" ? undefined : text))) return builder.finish();
  }
  return { type: "text", values: texts };
}
