import { readFile, stat } from "node:fs/promises";
import { IsoformError } from "../base/errors.js";

/** A file that does not hold what was expected; the message begins with file, line and column. */
export class InputError extends IsoformError {
  override name = "InputError";
}

/** Text of a table's field, and its place. */
export interface CsvField {
  text: string;
  /** Both count from 1; the column counts characters. */
  line: number;
  column: number;
}

/** Fields that stand for a value that was not measured. */
const MISSING: readonly string[] = ["", "X", "NA", "NaN", "-"];

/** Squares of quotients of measured values must be numbers. */
const [LEAST, MOST] = [1e-75, 1e75];

/** A parsed table of text whose columns are known by the names in its first row. */
export class CsvTable {
  readonly rows: readonly CsvField[][];
  /** Names of the columns, in the first row. */
  readonly header: readonly CsvField[];

  /**
   * Throws InputError if the text is not a table or its rows differ in length.
   * @param renamed names in the file by the names that columns are asked for: `{ problem: "name" }`
   */
  constructor(
    readonly file: string,
    text: string,
    private readonly renamed: Readonly<Record<string, string>> = {},
  ) {
    const { rows, separator } = parseTable(text, file);
    const [header, ...rest] = rows;
    if (!header) throw new InputError(`${file}: the file is empty: it needs a first row with column names`);
    header.forEach((name, i) => {
      if (header.findIndex((other) => other.text === name.text) !== i) throw this.error(name, `column "${name.text}" appears twice`);
    });
    for (const row of rest)
      if (row.length !== header.length)
        throw this.error(
          row[0],
          `the row has ${row.length} fields where the first row has ${header.length}${row.length > header.length ? lengthHint(row, separator) : ""}`,
        );
    this.header = header;
    this.rows = rest;
  }

  /** Whether the file has a column, by the name that it is asked for. */
  has(name: string): boolean {
    return this.column(name, "optional") >= 0;
  }

  /** Position of a column, -1 where an optional one is absent. One that was renamed must be there. */
  column(name: string, need: "required" | "optional" = "required"): number {
    const given = Object.hasOwn(this.renamed, name) ? this.renamed[name] : undefined;
    const index = this.header.findIndex((field) => field.text === (given ?? name));
    if (index >= 0 || (need === "optional" && given === undefined)) return index;
    const at = this.header[0].line;
    const names = this.header.map((field) => field.text).join(", ");
    throw new InputError(
      `${this.file}:${at}: no column "${given ?? name}": the first row names ${names}${given === undefined ? `; say which one it is with --columns ${name}=NAME` : ""}`,
    );
  }

  text(field: CsvField, name: string): string {
    if (field.text === "") throw this.error(field, `${name} is empty`);
    return field.text;
  }

  /** A finite number greater than 0. */
  positive(field: CsvField, name: string): number {
    const value = this.number(field, name);
    if (!(value > 0 && value < Infinity)) throw this.error(field, `${name} is ${field.text}: it must be greater than 0 and finite`);
    return value;
  }

  /** A finite number greater than 0; undefined for what was not measured: `X`, `NA`, `NaN`, `-` or nothing. */
  measured(field: CsvField, name: string): number | undefined {
    if (MISSING.includes(field.text)) return undefined;
    const value = this.positive(field, name);
    if (value < LEAST || value > MOST)
      throw this.error(field, `${name} is ${field.text}: it must lie between ${LEAST} and ${MOST}: use another unit`);
    return value;
  }

  /** A whole number from 0 on. */
  count(field: CsvField, name: string): number {
    const value = this.number(field, name);
    if (!(Number.isSafeInteger(value) && value >= 0))
      throw this.error(field, `${name} is ${field.text}: it must be a whole number from 0 on`);
    return value;
  }

  private number(field: CsvField, name: string): number {
    const text = this.text(field, name);
    if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
    const remedy = /^[+-]?[\d.,]*,[\d.,]*(e[+-]?\d+)?$/i.test(text)
      ? ": write a decimal point in place of the comma, and no separators of thousands"
      : "";
    throw this.error(field, `${name} is "${text}", which is not a number${remedy}`);
  }

  error(at: CsvField, problem: string): InputError {
    return new InputError(`${this.file}:${at.line}:${at.column}: ${problem}`);
  }
}

/**
 * Reads and parses a file. Throws InputError if it cannot be read.
 * @param renamed names in the file by the names that columns are asked for
 */
export async function readCsv(file: string, renamed?: Readonly<Record<string, string>>): Promise<CsvTable> {
  return new CsvTable(file, await readText(file), renamed);
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

/** Explains a row with too many fields where commas separate them. */
const lengthHint = (row: readonly CsvField[], separator: string): string =>
  separator === "," && row.some(({ text }) => /^[+-]?\d+$/.test(text))
    ? "; a number takes a decimal point, and a text with commas quotes"
    : "";

/** Separators of fields, the first where several are equally frequent. */
const SEPARATORS = [",", ";", "\t"] as const;

/** The separator that is most frequent in the first row, outside of quotes. */
function separatorOf(text: string, begin: number): string {
  const counts = SEPARATORS.map(() => 0);
  let quoted = false;
  for (let at = begin; at < text.length && (quoted || !/[\r\n]/.test(text[at])); at++) {
    if (text[at] === '"') quoted = !quoted;
    const which = quoted ? -1 : SEPARATORS.findIndex((separator) => separator === text[at]);
    if (which >= 0) counts[which]++;
  }
  return SEPARATORS[counts.indexOf(Math.max(...counts))];
}

/**
 * RFC 4180, with LF or CRLF, a byte order mark, spaces around fields, and commas, semicolons or tabs between them; empty lines and lines that begin
 * with `#` are skipped.
 */
function parseTable(text: string, file: string): { rows: CsvField[][]; separator: string } {
  const scanner = new Scanner(text, file);
  const rows: CsvField[][] = [];
  for (scanner.skipLines(); !scanner.ended; scanner.skipLines()) {
    scanner.separator ??= separatorOf(text, scanner.at);
    rows.push(scanner.row());
  }
  return { rows, separator: scanner.separator ?? "," };
}

/** Reads fields one after the other and counts lines and columns. */
class Scanner {
  at: number;
  separator?: string;
  private line = 1;
  private lineStart: number;

  /** Throws InputError for characters that no text in UTF-8 has. */
  constructor(
    private readonly source: string,
    private readonly file: string,
  ) {
    this.at = source.charCodeAt(0) === 0xfeff ? 1 : 0;
    this.lineStart = this.at;
    const bad = /[\0\ufffd]/.exec(source);
    if (!bad) return;
    const before = source.slice(this.at, bad.index).split(/\r?\n/);
    throw this.failure(before.length, before.at(-1)!.length + 1, "a character is not UTF-8: save the file in this encoding");
  }

  get ended(): boolean {
    return this.at >= this.source.length;
  }

  /** Skips lines that are empty or begin with `#`. */
  skipLines(): void {
    const skipped = /(?:#[^\r\n]*|[ \t]*)(?:\r\n|\r|\n|$)/y;
    while (!this.ended) {
      skipped.lastIndex = this.at;
      if (!skipped.test(this.source)) return;
      this.at = skipped.lastIndex;
      this.nextLine();
    }
  }

  /** All fields of a line, and its end. */
  row(): CsvField[] {
    const fields = [this.field()];
    while (this.source[this.at] === this.separator) {
      this.at++;
      fields.push(this.field());
    }
    if (this.source[this.at] === "\r") this.at++;
    if (this.source[this.at] === "\n") this.at++;
    this.nextLine();
    return fields;
  }

  private field(): CsvField {
    const start = this.at;
    this.skipSpaces();
    if (this.source[this.at] === '"') return this.quoted();
    const { line, column } = this;
    const begin = this.at;
    while (!this.ended && !this.atEnd()) this.at++;
    const text = this.source.slice(begin, this.at).trim();
    return { text, line, column: text === "" ? start - this.lineStart + 1 : column };
  }

  private quoted(): CsvField {
    const { line, column } = this;
    let text = "";
    for (this.at++; ; this.at++) {
      if (this.ended) throw this.failure(line, column, "the quoted field has no closing quote");
      if (this.source[this.at] === '"' && this.source[++this.at] !== '"') break;
      text += this.source[this.at];
      if (this.source[this.at] === "\n") this.nextLine(1);
    }
    this.skipSpaces();
    if (!this.ended && !this.atEnd())
      throw this.failure(this.line, this.column, `a quoted field must end at a ${this.separatorName} or a line's end`);
    return { text: text.trim(), line, column };
  }

  private get column(): number {
    return this.at - this.lineStart + 1;
  }

  private get separatorName(): string {
    return this.separator === "\t" ? "tab" : this.separator === ";" ? "semicolon" : "comma";
  }

  private atEnd(): boolean {
    const next = this.source[this.at];
    return next === this.separator || next === "\n" || next === "\r";
  }

  private skipSpaces(): void {
    while (this.source[this.at] === " " || (this.source[this.at] === "\t" && this.separator !== "\t")) this.at++;
  }

  private nextLine(ahead = 0): void {
    this.line++;
    this.lineStart = this.at + ahead;
  }

  private failure(line: number, column: number, problem: string): InputError {
    return new InputError(`${this.file}:${line}:${column}: ${problem}`);
  }
}
