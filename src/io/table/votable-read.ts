import { IsoformError } from "../../base/errors.js";
import { readUncompressed } from "./bytes.js";
import type { FitsOptions } from "./fits.js";
import type { Column, ColumnType, TableRead } from "./table.js";
import { isFloatColumn, parseValue, valuesOf } from "./table.js";
import { VOTABLE_TYPES } from "./votable.js";
import type { XmlEvent } from "./xml-reader.js";
import { xmlEvents } from "./xml-reader.js";

/*
 * Reader of VOTable files: rows as text (TABLEDATA) and in base64 (BINARY, BINARY2).
 */

/** A column's description. */
interface FieldRead {
  readonly name: string;
  readonly type: ColumnType;
  readonly datatype: string;
  readonly unit?: string;
  description?: string;
  /** Values of a row; undefined where the row tells. */
  readonly count: number | undefined;
  readonly isList: boolean;
  /** Text that stands for a missing integer. */
  none?: string;
}

/** Columns that grow: numbers of any type as bigints or numbers. */
interface Growing {
  readonly field: FieldRead;
  readonly values: (number | bigint | string)[];
  readonly offsets: number[];
  readonly gaps: number[];
}

const SERIALISATIONS = ["TABLEDATA", "BINARY", "BINARY2"];

/**
 * Reads a table of a VOTable file: numbers, texts, and lists of numbers with one axis. gzip is undone. Throws IsoformError for another file, a
 * damaged one, or has data elsewhere (FITS, or a STREAM with href).
 */
export async function readVotable(path: string, { table, columns }: FitsOptions = {}): Promise<TableRead> {
  const bytes = await readUncompressed(path);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new IsoformError(`${path} is not text in UTF-8 of up to 512 MiB: convert it, or write the table as FITS`);
  }
  const reader = new VotableReader(path, table, columns && new Set(columns));
  for (const event of xmlEvents(text, path)) if (reader.take(event)) break;
  return reader.finish();
}

class VotableReader {
  private isVotable = false;
  private readonly names: string[] = [];
  private name: string | undefined;
  private inTable = false;
  private isDone = false;
  private fields: FieldRead[] = [];
  private metadata: Record<string, string | number | boolean> = {};
  private growing: Growing[] = [];
  private rows = 0;
  private text = "";
  private serialisation: string | undefined;
  private cells: string[] = [];
  private line = 0;
  /** Element that texts belong to. */
  private readonly open: string[] = [];

  constructor(
    private readonly path: string,
    private readonly table: string | undefined,
    private readonly wanted: ReadonlySet<string> | undefined,
  ) {}

  /** Takes a piece; true once the table is read. */
  take(event: XmlEvent): boolean {
    if (event.kind === "text") {
      this.text += event.text;
      return false;
    }
    this.line = event.line;
    if (event.kind === "end") {
      this.end(event.tag);
      this.open.pop();
      return this.isDone;
    }
    this.text = "";
    this.start(event.tag, event.attributes);
    if (event.empty) this.end(event.tag);
    else this.open.push(event.tag);
    return this.isDone;
  }

  private start(tag: string, attributes: Readonly<Record<string, string>>): void {
    if (tag === "VOTABLE") this.isVotable = true;
    if (!this.isVotable) throw new IsoformError(`${this.path} is not a VOTable: it begins with <${tag}>`);
    if (tag === "TABLE") {
      this.name = attributes.name;
      this.names.push(attributes.name ?? "(no name)");
      this.inTable = this.table === undefined || attributes.name === this.table;
      this.fields = [];
      this.metadata = {};
    }
    if (!this.inTable) return;
    if (tag === "FIELD") this.fields.push(this.fieldOf(attributes));
    if (tag === "PARAM" && attributes.name !== undefined) this.metadata[attributes.name] = paramValue(attributes);
    if (tag === "VALUES" && attributes.null !== undefined && this.fields.length > 0 && this.open.at(-1) === "FIELD")
      this.fields.at(-1)!.none = attributes.null;
    if (tag === "DATA") this.growing = this.fields.map((field) => ({ field, values: [], offsets: [0], gaps: [] }));
    if (SERIALISATIONS.includes(tag)) this.serialisation = tag;
    if (tag === "FITS") this.fail("rows in FITS: write the FITS file itself");
    if (tag === "STREAM") {
      if (attributes.href !== undefined) this.fail("the rows are in another file (STREAM with href): put them into this one");
      if (attributes.encoding !== "base64") this.fail(`a STREAM of the encoding "${attributes.encoding ?? "none"}": isoform reads base64`);
    }
    if (tag === "TR") this.cells = [];
    if (tag === "TD" && attributes.encoding !== undefined) this.fail("a cell in base64: write TABLEDATA without encoding, or BINARY2");
  }

  private end(tag: string): void {
    if (!this.inTable) return;
    if (tag === "DESCRIPTION" && this.open.at(-2) === "FIELD") this.fields.at(-1)!.description = this.text.trim();
    if (tag === "TD") this.cells.push(this.text);
    if (tag === "TR") this.textRow();
    if (tag === "STREAM") this.binaryRows();
    if (tag === "TABLE") {
      this.inTable = false;
      this.isDone = true;
      if (this.growing.length === 0) this.growing = this.fields.map((field) => ({ field, values: [], offsets: [0], gaps: [] }));
    }
    this.text = "";
  }

  private fieldOf({ name, ID, datatype = "", arraysize, unit }: Readonly<Record<string, string>>): FieldRead {
    const shown = name ?? ID ?? `column ${this.fields.length + 1}`;
    const isText = datatype === "char" || datatype === "unicodeChar";
    const isBit = datatype === "bit" && (arraysize === undefined || arraysize === "1");
    const known = isBit ? "bool" : (Object.entries(VOTABLE_TYPES).find(([, [word]]) => word === datatype)?.[0] as ColumnType | undefined);
    if (!isText && known === undefined)
      this.fail(
        `the column "${shown}" has the datatype "${datatype}": isoform reads char, unicodeChar and ${Object.values(VOTABLE_TYPES)
          .map(([word]) => word)
          .join(", ")}`,
      );
    if (arraysize !== undefined && !/^(\d{1,9}|\d*\*)$/.test(arraysize))
      this.fail(`the column "${shown}" has the arraysize "${arraysize}": isoform reads lists with one axis`);
    const count = arraysize === undefined ? 1 : arraysize.endsWith("*") ? undefined : Number(arraysize);
    return {
      name: shown,
      type: isText ? "text" : known!,
      datatype,
      ...(unit ? { unit } : {}),
      count,
      isList: !isText && arraysize !== undefined && arraysize !== "1",
    };
  }

  private textRow(): void {
    if (this.cells.length !== this.growing.length)
      this.fail(`a row of ${this.cells.length} cells, and the table has ${this.growing.length} columns`);
    for (const [n, column] of this.growing.entries()) {
      const { field, values, offsets, gaps } = column;
      const { type, isList, count } = field;
      const words =
        type === "text"
          ? [this.cells[n]]
          : isList
            ? this.cells[n]
                .trim()
                .split(/\s+/)
                .filter((word) => word !== "")
            : [this.cells[n].trim()];
      if (isList && count !== undefined && words.length !== count)
        this.fail(`${words.length} values in the column "${field.name}", which has ${count}`);
      for (const word of words) {
        if (type === "text") values.push(word);
        else if (word === "" || word === field.none || (type === "bool" && /^[?\s]$/.test(word))) {
          gaps.push(values.length);
          values.push(isFloatColumn(type) ? NaN : zeroOf(type));
        } else
          values.push(
            parseValue(type, word) ??
              this.fail(`${JSON.stringify(word.slice(0, 40))} in the column "${field.name}" is not a value of the type ${field.datatype}`),
          );
      }
      offsets.push(values.length);
    }
    this.rows++;
  }

  /** Rows of a STREAM. */
  private binaryRows(): void {
    if (!/^[A-Za-z0-9+/\s]*=*\s*$/.test(this.text)) this.fail("this is not base64: fetch or write the file again");
    const bytes = Buffer.from(this.text, "base64");
    const { growing } = this;
    const mask = this.serialisation === "BINARY2" ? Math.ceil(growing.length / 8) : 0;
    let at = 0;
    const need = (count: number): void => {
      if (at + count > bytes.length) this.fail(`the rows end inside of row ${this.rows + 1}: fetch or write the file again`);
    };
    if (growing.length === 0 && bytes.length > 0) this.fail("rows of a table without columns");
    while (at < bytes.length) {
      const before = at;
      need(mask);
      const gaps = bytes.subarray(at, at + mask);
      at += mask;
      for (const [n, { field, values, offsets, gaps: missing }] of growing.entries()) {
        let { count } = field;
        if (count === undefined) {
          need(4);
          count = bytes.readUInt32BE(at);
          at += 4;
        }
        const size = count * bytesOf(field);
        need(size);
        const isGap = mask > 0 && (gaps[n >> 3] & (0x80 >> (n & 7))) !== 0;
        if (field.type === "text") values.push(isGap ? "" : textOf(bytes.subarray(at, at + size), field.datatype));
        else
          for (let k = 0, place = at; k < count; k++, place += size / count) {
            const value = field.datatype === "bit" ? Number(bytes[place] !== 0) : valueOf(bytes, place, field.type);
            const isMissing = isGap || value === undefined || (field.none !== undefined && String(value) === field.none);
            if (isMissing) missing.push(values.length);
            values.push(isMissing ? (isFloatColumn(field.type) ? NaN : zeroOf(field.type)) : value);
          }
        at += size;
        offsets.push(values.length);
      }
      if (at === before) this.fail("rows without bytes");
      this.rows++;
    }
  }

  finish(): TableRead {
    const { path, isVotable, isDone, table, names, rows } = this;
    if (!isVotable) throw new IsoformError(`${path} is not a VOTable: it has no element VOTABLE`);
    if (!isDone)
      throw new IsoformError(
        `${path} does not have ${table === undefined ? "a table" : `a table "${table}"`}: it has ${names.join(", ") || "none"}`,
      );
    const columns = this.growing.filter(({ field }) => this.wanted?.has(field.name) ?? true).map(columnOfField);
    return {
      ...(this.name === undefined ? {} : { name: this.name }),
      metadata: this.metadata,
      columns,
      rows,
      where: (row) => `${path}, row ${row + 1}`,
    };
  }

  private fail(what: string): never {
    throw new IsoformError(`${this.path}:${this.line}: ${what}`);
  }
}

const zeroOf = (type: ColumnType): number | bigint => (type === "i64" ? 0n : 0);

function columnOfField({ field, values, offsets, gaps }: Growing): Column {
  const { name, type, unit, description, isList } = field;
  const about = { name, type, ...(unit ? { unit } : {}), ...(description ? { description } : {}) };
  if (type === "text") return { ...about, values: values as string[] };
  const array = valuesOf(type, values.length);
  for (const [n, value] of values.entries()) (array as Float64Array)[n] = value as number;
  const missing = new Uint8Array(isFloatColumn(type) || gaps.length === 0 ? 0 : values.length);
  if (missing.length > 0) for (const n of gaps) missing[n] = 1;
  return {
    ...about,
    values: array,
    ...(isList ? { offsets: Float64Array.from(offsets) } : {}),
    ...(missing.length > 0 ? { missing } : {}),
  };
}

const bytesOf = ({ type, datatype }: FieldRead): number =>
  type === "text" ? (datatype === "char" ? 1 : 2) : VOTABLE_TYPES[type as "f64"][1];

const textOf = (bytes: Buffer, datatype: string): string =>
  (datatype === "char" ? bytes.toString("utf8") : Buffer.from(bytes).swap16().toString("utf16le")).replace(/\0[^]*$/, "");

/** A value in big-endian bytes; undefined for a bool that is neither. */
function valueOf(bytes: Buffer, at: number, type: ColumnType): number | bigint | undefined {
  if (type === "bool")
    return "Tt1".includes(String.fromCharCode(bytes[at])) ? 1 : "Ff0".includes(String.fromCharCode(bytes[at])) ? 0 : undefined;
  if (type === "u8") return bytes[at];
  if (type === "i16") return bytes.readInt16BE(at);
  if (type === "i32") return bytes.readInt32BE(at);
  if (type === "i64") return bytes.readBigInt64BE(at);
  return type === "f32" ? bytes.readFloatBE(at) : bytes.readDoubleBE(at);
}

function paramValue({ datatype, value = "" }: Readonly<Record<string, string>>): string | number | boolean {
  if (datatype === "boolean") return /^(t|true|1)$/i.test(value);
  const number = Number(value);
  return datatype === "char" || datatype === "unicodeChar" || Number.isNaN(number) ? value : number;
}
