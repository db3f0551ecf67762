import { IsoformError } from "../../base/errors.js";
import { readLines } from "../table/bytes.js";
import {
  IMAGE,
  MARKET_FIELDS,
  MARKET_SYMMETRIES,
  MOST_OF_MARKET,
  type MarketField,
  type MarketSymmetry,
  type MatrixMarket,
} from "./matrix.js";

interface Header {
  readonly format: MatrixMarket["format"];
  readonly field: MarketField;
  readonly symmetry: MarketSymmetry;
}

/** Throws IsoformError with the file and the line. */
type Refuse = (what: string) => never;

/** Takes the lines after the size, one after the other, and gives the matrix at the end. */
interface Reader {
  /** Number of lines. */
  readonly count: number;
  take(words: readonly string[], refuse: Refuse): void;
  end(comments: readonly string[]): MatrixMarket;
}

/**
 * Reads a matrix of the Matrix Market (.mtx), as text or compressed by gzip: the formats coordinate and array, the fields real, integer, pattern (all values
 * are 1) and complex. Symmetric, skew-symmetric and hermitian matrices are expanded, so all elements are there. Indices count from 0. An element that the file has
 * several times is given several times.
 *
 * @throws IsoformError with the file and the line, for anything else
 */
export async function readMatrixMarket(path: string): Promise<MatrixMarket> {
  let header: Header | undefined;
  let reader: Reader | undefined;
  const comments: string[] = [];
  let [last, taken] = [0, 0];
  for await (const [line, number] of readLines(path)) {
    last = number;
    const refuse: Refuse = (what) => {
      throw new IsoformError(`${path}:${number}: ${what}`);
    };
    if (!header) header = readHeader(line, refuse);
    else if (line.startsWith("%")) comments.push(line.slice(1));
    else if (line.trim() !== "") {
      const words = line.trim().split(/\s+/);
      if (!reader) reader = readSize(header, words, refuse);
      else if (taken === reader.count) refuse(`the size promises ${reader.count} elements, and this is one more`);
      else {
        reader.take(words, refuse);
        taken++;
      }
    }
  }
  const lacks = (what: string): never => {
    throw new IsoformError(`${path}:${last + 1}: the file ends ${what}: fetch or write it again`);
  };
  if (!reader) return lacks(header ? "before the size of the matrix" : "before its header, %%MatrixMarket ...");
  if (taken !== reader.count) lacks(`after ${taken} of ${reader.count} elements`);
  return reader.end(comments);
}

function readHeader(line: string, refuse: Refuse): Header {
  const [mark, object, format, field, symmetry, ...more] = line.trim().split(/\s+/);
  if (mark?.toLowerCase() !== "%%matrixmarket" || symmetry === undefined || more.length > 0)
    refuse("this is not a file of the Matrix Market: it begins with %%MatrixMarket matrix coordinate real general, or such words");
  if (object.toLowerCase() !== "matrix") refuse(`the object is ${JSON.stringify(object)}: isoform reads a matrix`);
  const among = <T extends string>(what: string, word: string, known: readonly T[]): T =>
    known.find((name) => name === word.toLowerCase()) ??
    refuse(`the ${what} is ${JSON.stringify(word)}: the format knows ${known.join(", ")}`);
  const header = {
    format: among("format", format, ["coordinate", "array"]),
    // Some writers call them so.
    field: among("field", field.toLowerCase() === "double" ? "real" : field, MARKET_FIELDS),
    symmetry: among("symmetry", symmetry, MARKET_SYMMETRIES),
  };
  if (header.format === "array" && header.field === "pattern") refuse("an array has values: the field pattern is for coordinates");
  if (header.symmetry === "skew-symmetric" && header.field === "pattern")
    refuse("values of a pattern are 1, and cannot be skew-symmetric: write symmetric");
  return header;
}

function readSize(header: Header, words: readonly string[], refuse: Refuse): Reader {
  const names = header.format === "coordinate" ? ["rows", "columns", "elements"] : ["rows", "columns"];
  if (words.length !== names.length) refuse(`the size has ${words.length} numbers instead of ${names.length}: ${names.join(", ")}`);
  const [rows, columns, count] = words.map((word, n) => wholeNumber(word, names[n], 0, MOST_OF_MARKET, refuse));
  if (header.symmetry !== "general" && rows !== columns)
    refuse(`a matrix of ${rows} x ${columns} cannot be ${header.symmetry}: it has as many rows as columns`);
  return header.format === "coordinate"
    ? new CoordinateReader(header, [rows, columns], count)
    : new ArrayReader(header, [rows, columns], refuse);
}

function wholeNumber(word: string, name: string, least: number, most: number, refuse: Refuse): number {
  const value = /^\+?\d{1,16}$/.test(word) ? Number(word) : NaN;
  if (value >= least && value <= most) return value;
  return refuse(`${name}: ${JSON.stringify(word)} is not a whole number from ${least} to ${most}`);
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const NAMED: Readonly<Record<string, number>> = { nan: NaN, inf: Infinity, infinity: Infinity };

/** A value by its text: a decimal number, nan or inf. */
function valueOf(word: string, field: MarketField, refuse: Refuse): number {
  if (field === "integer") {
    const value = /^[+-]?\d+$/.test(word) ? Number(word) : NaN;
    if (Number.isSafeInteger(value)) return value;
    return refuse(`${JSON.stringify(word)} is not a whole number of up to 2^53, which f64 can hold`);
  }
  if (DECIMAL.test(word)) return Number(word);
  const negative = word.startsWith("-");
  const name = word.replace(/^[+-]/, "").toLowerCase();
  if (!Object.hasOwn(NAMED, name)) return refuse(`${JSON.stringify(word)} is not a number`);
  return negative ? -NAMED[name] : NAMED[name];
}

/** Numbers of the value of an element. */
const NUMBERS: Readonly<Record<MarketField, number>> = { real: 1, integer: 1, pattern: 0, complex: 2 };

/** Values that grow with the file, whatever length its header promises. */
class Growing<A extends Int32Array | Float64Array> {
  private used = 0;
  constructor(
    private data: A,
    private readonly make: (length: number) => A,
  ) {}

  push(value: number): void {
    if (this.used === this.data.length) {
      const longer = this.make(2 * this.used + 16);
      longer.set(this.data);
      this.data = longer;
    }
    this.data[this.used++] = value;
  }

  end(): A {
    return this.data.slice(0, this.used) as A;
  }
}
const growingIndices = () => new Growing<Int32Array>(new Int32Array(0), (length) => new Int32Array(length));
const growingValues = () => new Growing<Float64Array>(new Float64Array(0), (length) => new Float64Array(length));

/** Refuses places that a file of a symmetric matrix leaves out. */
function requireTriangle({ symmetry }: Header, row: number, column: number, refuse: Refuse): void {
  if (symmetry === "general") return;
  if (row < column) refuse(`a ${symmetry} matrix has its lower triangle in the file, and row ${row + 1} is above column ${column + 1}`);
  if (symmetry === "skew-symmetric" && row === column)
    refuse(`a skew-symmetric matrix has zeros on its diagonal, which are left out: row ${row + 1}, column ${column + 1}`);
}

/** Refuses a value on the diagonal that is not its own complex conjugate. */
function requireConjugate({ symmetry }: Header, place: readonly [row: number, column: number], im: number, refuse: Refuse): void {
  const [row, column] = place;
  if (symmetry === "hermitian" && row === column && im !== 0)
    refuse(`a hermitian matrix is real on its diagonal: row ${row + 1}, column ${column + 1} has the imaginary part ${im}`);
}

class CoordinateReader implements Reader {
  private readonly rows = growingIndices();
  private readonly columns = growingIndices();
  private readonly values = growingValues();
  private readonly imaginary = growingValues();

  constructor(
    private readonly header: Header,
    private readonly shape: readonly [number, number],
    readonly count: number,
  ) {}

  take(words: readonly string[], refuse: Refuse): void {
    const { field, symmetry } = this.header;
    const expected = 2 + NUMBERS[field];
    if (words.length !== expected) refuse(`the element has ${words.length} words instead of ${expected}: row, column and its value`);
    const row = wholeNumber(words[0], "row", 1, this.shape[0], refuse) - 1;
    const column = wholeNumber(words[1], "column", 1, this.shape[1], refuse) - 1;
    requireTriangle(this.header, row, column, refuse);
    const re = field === "pattern" ? 1 : valueOf(words[2], field, refuse);
    const im = field === "complex" ? valueOf(words[3], field, refuse) : 0;
    requireConjugate(this.header, [row, column], im, refuse);
    this.push(row, column, re, im);
    const [timesRe, timesIm] = IMAGE[symmetry];
    if (symmetry !== "general" && row !== column) this.push(column, row, timesRe * re, timesIm * im);
  }

  private push(row: number, column: number, re: number, im: number): void {
    this.rows.push(row);
    this.columns.push(column);
    this.values.push(re);
    if (this.header.field === "complex") this.imaginary.push(im);
  }

  end(comments: readonly string[]): MatrixMarket {
    const { shape, header } = this;
    const imaginary = header.field === "complex" ? { imaginary: this.imaginary.end() } : {};
    const places = { rows: this.rows.end(), columns: this.columns.end() };
    return { ...header, format: "coordinate", shape, comments, ...places, values: this.values.end(), ...imaginary };
  }
}

class ArrayReader implements Reader {
  readonly count: number;
  private readonly values: Float64Array;
  private readonly imaginary?: Float64Array;
  private row: number;
  private column = 0;

  constructor(
    private readonly header: Header,
    private readonly shape: readonly [number, number],
    refuse: Refuse,
  ) {
    const [rows, columns] = shape;
    const { symmetry, field } = header;
    if (rows * columns > MOST_OF_MARKET) refuse(`an array of ${rows} x ${columns} has more than ${MOST_OF_MARKET} elements`);
    const half = { general: rows * columns, symmetric: (rows * (rows + 1)) / 2, "skew-symmetric": (rows * (rows - 1)) / 2 };
    this.count = half[symmetry === "hermitian" ? "symmetric" : symmetry];
    const make = (): Float64Array => {
      try {
        return new Float64Array(rows * columns);
      } catch {
        return refuse(`the engine has no room for ${rows} x ${columns} values`);
      }
    };
    this.values = make();
    if (field === "complex") this.imaginary = make();
    this.row = this.firstRow();
  }

  /** The first row of a column that the file has. */
  private firstRow(): number {
    const { symmetry } = this.header;
    return symmetry === "general" ? 0 : this.column + (symmetry === "skew-symmetric" ? 1 : 0);
  }

  take(words: readonly string[], refuse: Refuse): void {
    const { field, symmetry } = this.header;
    if (words.length !== NUMBERS[field]) refuse(`the element has ${words.length} words instead of ${NUMBERS[field]}`);
    const re = valueOf(words[0], field, refuse);
    const im = field === "complex" ? valueOf(words[1], field, refuse) : 0;
    requireConjugate(this.header, [this.row, this.column], im, refuse);
    this.set(this.row, this.column, re, im);
    const [timesRe, timesIm] = IMAGE[symmetry];
    if (symmetry !== "general" && this.row !== this.column) this.set(this.column, this.row, timesRe * re, timesIm * im);
    if (++this.row === this.shape[0]) {
      this.column++;
      this.row = this.firstRow();
    }
  }

  private set(row: number, column: number, re: number, im: number): void {
    const at = row * this.shape[1] + column;
    this.values[at] = re;
    if (this.imaginary) this.imaginary[at] = im;
  }

  end(comments: readonly string[]): MatrixMarket {
    const { shape, header, values, imaginary } = this;
    return { ...header, format: "array", shape, comments, values, ...(imaginary && { imaginary }) };
  }
}
