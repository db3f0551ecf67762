import { readFile, stat } from "node:fs/promises";
import { IsoformError } from "../base/errors.js";

/** A file that does not hold what was expected; the message begins with file, line and column. */
export class InputError extends IsoformError {
  override name = "InputError";
}

export interface CsvField {
  text: string;
  /** Both count from 1; the column counts characters. */
  line: number;
  column: number;
}

/** A parsed CSV file whose columns are known by the names in its first row. */
export class CsvTable {
  readonly rows: readonly CsvField[][];
  private readonly header: readonly CsvField[];

  /** Throws InputError if the text is no CSV or its rows differ in length. */
  constructor(
    readonly file: string,
    text: string,
  ) {
    const [header, ...rows] = parseCsv(text, file);
    if (!header) throw new InputError(`${file}: the file is empty: it needs a first row with column names`);
    header.forEach((name, i) => {
      if (header.findIndex((other) => other.text === name.text) !== i) throw this.error(name, `column "${name.text}" appears twice`);
    });
    for (const row of rows)
      if (row.length !== header.length)
        throw this.error(row[0], `the row has ${row.length} fields where the first row has ${header.length}`);
    this.header = header;
    this.rows = rows;
  }

  /** Position of a column, -1 where an optional one is absent. */
  column(name: string, need: "required" | "optional" = "required"): number {
    const index = this.header.findIndex((field) => field.text.trim() === name);
    if (index < 0 && need === "required")
      throw new InputError(`${this.file}:1: no column "${name}": the first row names ${this.header.map((f) => f.text).join(", ")}`);
    return index;
  }

  text(field: CsvField, name: string): string {
    const text = field.text.trim();
    if (text === "") throw this.error(field, `${name} is empty`);
    return text;
  }

  /** A finite number greater than 0. */
  positive(field: CsvField, name: string): number {
    const value = this.number(field, name);
    if (!(value > 0 && value < Infinity)) throw this.error(field, `${name} is ${field.text.trim()}: it must be greater than 0 and finite`);
    return value;
  }

  /** A whole number from 0 on. */
  count(field: CsvField, name: string): number {
    const value = this.number(field, name);
    if (!(Number.isSafeInteger(value) && value >= 0))
      throw this.error(field, `${name} is ${field.text.trim()}: it must be a whole number from 0 on`);
    return value;
  }

  private number(field: CsvField, name: string): number {
    const text = this.text(field, name);
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw this.error(field, `${name} is "${text}", which is not a number`);
    return Number(text);
  }

  error(at: CsvField, problem: string): InputError {
    return new InputError(`${this.file}:${at.line}:${at.column}: ${problem}`);
  }
}

/** Reads and parses a file. Throws InputError if it cannot be read. */
export async function readCsv(file: string): Promise<CsvTable> {
  return new CsvTable(file, await readText(file));
}

/** A whole text file. Throws InputError with the reason in words. */
export async function readText(file: string): Promise<string> {
  try {
    // It may have no end.
    if ((await stat(file)).isCharacterDevice()) throw new InputError(`${file}: it is a device`);
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof InputError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    const reason =
      code === "ENOENT"
        ? "there is no such file"
        : code === "EACCES"
          ? "permission to read it is denied"
          : code === "EISDIR"
            ? "it is a directory"
            : (error as Error).message;
    throw new InputError(`${file}: ${reason}`);
  }
}

/** RFC 4180, with LF or CRLF, a byte order mark and empty lines tolerated. */
function parseCsv(text: string, file: string): CsvField[][] {
  const rows: CsvField[][] = [];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  let line = 1;
  let lineStart = at;
  let row: CsvField[] = [];
  while (at < text.length) {
    const field = { text: "", line, column: at - lineStart + 1 };
    if (text[at] === '"') {
      for (at++; ; at++) {
        if (at >= text.length) throw new InputError(`${file}:${field.line}:${field.column}: the quoted field has no closing quote`);
        if (text[at] === '"' && text[++at] !== '"') break;
        if (text[at] === "\n") {
          line++;
          lineStart = at + 1;
        }
        field.text += text[at];
      }
      if (at < text.length && !/[,\r\n]/.test(text[at]))
        throw new InputError(`${file}:${line}:${at - lineStart + 1}: a quoted field must end at a comma or a line's end`);
    } else {
      const begin = at;
      while (at < text.length && text[at] !== "," && text[at] !== "\n" && text[at] !== "\r") at++;
      field.text = text.slice(begin, at);
    }
    row.push(field);
    if (text[at] === ",") {
      at++;
      if (at < text.length) continue;
      row.push({ text: "", line, column: at - lineStart + 1 });
    }
    if (text[at] === "\r") at++;
    if (text[at] === "\n") at++;
    if (row.length > 1 || row[0].text !== "") rows.push(row);
    row = [];
    line++;
    lineStart = at;
  }
  return rows;
}
