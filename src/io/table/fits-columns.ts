import { IsoformError } from "../../base/errors.js";
import type { FitsHeader } from "./fits-header.js";
import { axisCount } from "./fits-header.js";
import type { Column, ColumnType, ColumnValues } from "./table.js";
import { valuesOf } from "./table.js";

/*
 * Columns of a binary table in the bytes of a FITS file.
 */

/** Type and bytes of a value, by its code. */
const CODES: ReadonlyMap<string, readonly [ColumnType, number]> = new Map(
  Object.entries({
    L: ["bool", 1],
    B: ["u8", 1],
    I: ["i16", 2],
    J: ["i32", 4],
    K: ["i64", 8],
    E: ["f32", 4],
    D: ["f64", 8],
    A: ["text", 1],
  } as const),
);
/** Bytes of the codes that isoform does not read, and of descriptors of lists. */
const OTHERS: ReadonlyMap<string, number> = new Map(Object.entries({ X: 1 / 8, C: 8, M: 16, P: 8, Q: 16 }));

/** A column's place and form in the rows. */
interface Form {
  readonly name: string;
  readonly number: number;
  readonly at: number;
  readonly repeat: number;
  readonly code: string;
  /** Code of a list's values, for P and Q. */
  readonly of: string;
}

/** Reads the columns of these names, or all. Throws IsoformError for damaged tables, and for columns of codes that are not read. */
export function fitsColumns(
  file: Buffer,
  header: FitsHeader,
  path: string,
  wanted: ReadonlySet<string> | undefined,
): { rows: number; columns: Column[] } {
  const rows = axisCount(header, "NAXIS2", path);
  const width = axisCount(header, "NAXIS1", path);
  const damaged = (what: string): never => {
    throw new IsoformError(`${path} is damaged: ${what}; fetch or write it again`);
  };
  const forms: Form[] = [];
  let at = 0;
  const fields = axisCount(header, "TFIELDS", path, 999);
  for (let number = 1; number <= fields; number++) {
    const form = String(header.cards.get(`TFORM${number}`) ?? "");
    const name = String(header.cards.get(`TTYPE${number}`) ?? `column ${number}`);
    const [, count, code, of] = /^\s*(\d*)([LBIJKEDAXCMPQ])([LBIJKEDAXCM]?)/.exec(form) ?? [];
    if (code === undefined) damaged(`the column "${name}" has the form "${form}"`);
    const repeat = count === "" ? 1 : Number(count);
    forms.push({ name, number, at, repeat, code, of });
    at += Math.ceil(repeat * (CODES.get(code)?.[1] ?? OTHERS.get(code)!));
  }
  if (at !== width) damaged(`its columns have ${at} bytes a row, and NAXIS1 is ${width}`);
  if (rows > 0 && width === 0 && fields > 0) damaged(`${rows} rows of no bytes`);
  const heap = header.end + (header.cards.has("THEAP") ? axisCount(header, "THEAP", path) : rows * width);
  const heapEnd = header.end + rows * width + (header.cards.has("PCOUNT") ? axisCount(header, "PCOUNT", path) : 0);
  const columns = forms
    .filter(({ name }) => wanted?.has(name) ?? true)
    .map((form) => {
      const unit = header.cards.get(`TUNIT${form.number}`);
      return {
        name: form.name,
        ...(unit ? { unit: String(unit) } : {}),
        ...new ColumnReader(file, header, path, form).read({ rows, width, heap, heapEnd }),
      };
    });
  return { rows, columns };
}

interface Place {
  readonly rows: number;
  readonly width: number;
  readonly heap: number;
  readonly heapEnd: number;
}

class ColumnReader {
  constructor(
    private readonly file: Buffer,
    private readonly header: FitsHeader,
    private readonly path: string,
    private readonly form: Form,
  ) {}

  read(place: Place): Pick<Column, "type" | "values" | "offsets" | "missing"> {
    const { file, header, form } = this;
    const { code, of, repeat, at } = form;
    const { rows, width } = place;
    const start = (row: number): number => header.end + row * width + at;
    const isList = code === "P" || code === "Q";
    const kind = isList ? of : code;
    if (!CODES.has(kind) || (isList && (kind === "A" || repeat > 1)))
      throw new IsoformError(
        `${this.path}: the column "${form.name}" has the form ${repeat}${code}${of}: isoform reads L, B, I, J, K, E, D, A and lists of numbers; leave it out`,
      );
    if (kind === "A") {
      const text = (row: number) =>
        file
          .toString("latin1", start(row), start(row) + repeat)
          .replace(/\0[^]*$/, "")
          .trimEnd();
      return { type: "text", values: Array.from({ length: rows }, (_, row) => text(row)) };
    }
    if (!isList && repeat === 1) return this.values(kind, rows, start);
    const offsets = new Float64Array(rows + 1);
    const firsts = new Float64Array(rows);
    const size = CODES.get(kind)![1];
    for (let row = 0; row < rows; row++) {
      const [count, first] = isList ? this.descriptor(start(row), place, size) : [repeat, start(row)];
      offsets[row + 1] = offsets[row] + count;
      firsts[row] = first;
    }
    const total = offsets[rows];
    // Lists may share bytes of the heap: a forged file could ask for far more values than it has.
    if (total * size > 16 * file.length)
      throw new IsoformError(
        `${this.path} is damaged: the lists of the column "${form.name}" have ${total} values, more than the file holds`,
      );
    let row = 0;
    const found = this.values(kind, total, (n) => {
      while (n >= offsets[row + 1]) row++;
      return firsts[row] + (n - offsets[row]) * size;
    });
    return { ...found, offsets };
  }

  /** Length and first byte of a list. */
  private descriptor(at: number, { heap, heapEnd }: Place, size: number): [count: number, first: number] {
    const { file, form } = this;
    const [count, offset] =
      form.code === "P"
        ? [file.readInt32BE(at), file.readInt32BE(at + 4)]
        : [Number(file.readBigInt64BE(at)), Number(file.readBigInt64BE(at + 8))];
    if (count < 0 || offset < 0 || (count > 0 && heap + offset + count * size > heapEnd))
      throw new IsoformError(
        `${this.path} is damaged: a list of the column "${form.name}" has ${count} values at ${offset}, beyond the table`,
      );
    return [count, heap + offset];
  }

  /** Values at places of the file, in order, scaled. */
  private values(code: string, count: number, place: (n: number) => number): Pick<Column, "type" | "values" | "missing"> {
    const { file, form, header } = this;
    const raw = valuesOf(CODES.get(code)![0] as "f64", count) as ColumnValues as Float64Array | BigInt64Array;
    const get = {
      L: (at: number) => (file[at] === 84 ? 1 : 0),
      B: (at: number) => file[at],
      I: (at: number) => file.readInt16BE(at),
      J: (at: number) => file.readInt32BE(at),
      K: (at: number) => file.readBigInt64BE(at),
      E: (at: number) => file.readFloatBE(at),
      D: (at: number) => file.readDoubleBE(at),
    }[code]!;
    const none = /[BIJK]/.test(code) ? header.cards.get(`TNULL${form.number}`) : undefined;
    let missing: Uint8Array | undefined;
    for (let n = 0; n < count; n++) {
      const at = place(n);
      const value = get(at);
      raw[n] = value;
      if ((code === "L" && file[at] === 0) || (none !== undefined && String(value) === none)) (missing ??= new Uint8Array(count))[n] = 1;
    }
    return this.scaled(code, raw, missing);
  }

  /** Applies TSCAL and TZERO: unsigned integers get a type that holds them, all else becomes f64. */
  private scaled(
    code: string,
    raw: Float64Array | BigInt64Array,
    missing: Uint8Array | undefined,
  ): Pick<Column, "type" | "values" | "missing"> {
    const { form, header, path } = this;
    const number = (key: string, usual: number): number => {
      const text = header.cards.get(`${key}${form.number}`);
      const value = text === undefined ? usual : Number(String(text).replace("D", "E"));
      if (!Number.isFinite(value)) throw new IsoformError(`${path} is damaged: ${key}${form.number} is "${text}", not a number`);
      return value;
    };
    const [scale, zero] = [number("TSCAL", 1), number("TZERO", 0)];
    const gaps = missing ? { missing } : {};
    const type = CODES.get(code)![0];
    if ((scale === 1 && zero === 0) || code === "L") return { type, values: raw, ...gaps };
    if (code === "K" && scale === 1 && zero === 2 ** 63)
      return { type: "u64", values: BigUint64Array.from(raw as BigInt64Array, (value) => value + 2n ** 63n), ...gaps };
    const unsigned = { B: [-128, "i16"], I: [32768, "i32"], J: [2 ** 31, "i64"] }[code];
    if (unsigned && scale === 1 && zero === unsigned[0]) {
      const wide = valuesOf(unsigned[1] as "i16" | "i32" | "i64", raw.length);
      for (let n = 0; n < raw.length; n++)
        (wide as Float64Array)[n] = code === "J" ? ((BigInt(raw[n]) + 2n ** 31n) as unknown as number) : Number(raw[n]) + zero;
      return { type: unsigned[1] as ColumnType, values: wide, ...gaps };
    }
    const values = Float64Array.from(raw as Float64Array, (value, n) => (missing?.[n] ? NaN : Number(value) * scale + zero));
    return { type: "f64", values };
  }
}
