import { describe } from "../../base/describe.js";
import { IsoformError } from "../../base/errors.js";
import { requireOptions } from "../../base/own.js";
import { unreachable } from "../../base/unreachable.js";
import { writePieces } from "../files.js";
import {
  IMAGE,
  MARKET_FIELDS,
  MARKET_SYMMETRIES,
  MOST_OF_MARKET,
  type MarketArray,
  type MarketCoordinates,
  type MarketField,
  type MarketSymmetry,
} from "./matrix.js";

/** Options of `writeMatrixMarket`. */
export interface MatrixMarketOptions {
  /** Default: `complex` with imaginary parts, else `real`. With `pattern`, values are left out. */
  readonly field?: MarketField;
  /** With another one than `general`, the lower triangle is written; the matrix must be so, bit by bit but for signs of zeros. Default: `general` */
  readonly symmetry?: MarketSymmetry;
  /** Lines of comment. */
  readonly comments?: readonly string[];
}

type Fail = (what: string) => never;
interface Chosen {
  readonly field: MarketField;
  readonly symmetry: MarketSymmetry;
}

/** Lines that are made into text at once. */
const BLOCK = 4096;

/**
 * Writes a matrix for the Matrix Market (.mtx): coordinates, in their order, where `rows` and `columns` are given, and else an array, whose values are given row by
 * row. Numbers have the digits that give their bits back; NaN and infinities are `nan` and `inf`.
 *
 * @throws IsoformError for indices outside the shape, values that are not numbers or that the field cannot hold, and a matrix that has not the symmetry that is asked for
 */
export async function writeMatrixMarket(
  path: string,
  matrix: MarketCoordinates | MarketArray,
  options: MatrixMarketOptions = {},
): Promise<void> {
  requireOptions("writeMatrixMarket", options, ["field", "symmetry", "comments"]);
  const fail: Fail = (what) => {
    throw new IsoformError(`${path} cannot be written: ${what}`);
  };
  requireMatrix(matrix, fail);
  const { field = matrix.imaginary ? "complex" : "real", symmetry = "general", comments = [] } = options;
  requireChoice({ field, symmetry }, matrix, fail);
  if (!Array.isArray(comments)) fail(`its comments are ${describe(comments)}: give a list of lines`);
  if (comments.some((line) => typeof line !== "string" || /[\r\n]/.test(line))) fail("a comment is not one line of text");
  const head = (format: string): string =>
    `%%MatrixMarket matrix ${format} ${field} ${symmetry}\n${comments.map((line) => `%${line}\n`).join("")}`;
  const chosen = { field, symmetry };
  const sparse = isSparse(matrix);
  if (sparse) requireCoordinates(matrix, fail);
  else if (matrix.values.length !== matrix.shape[0] * matrix.shape[1])
    fail(`it has ${matrix.values.length} values for ${matrix.shape.join(" x ")} elements`);
  if (matrix.imaginary && matrix.imaginary.length !== matrix.values.length)
    fail(`it has ${matrix.values.length} real and ${matrix.imaginary.length} imaginary parts`);
  // Lines are made while the file is written, which adds the path.
  const failIn: Fail = (what) => {
    throw new IsoformError(what);
  };
  const lines = sparse ? coordinateLines(matrix, chosen, failIn) : arrayLines(matrix, chosen, failIn);
  await writePieces(path, inBlocks(head(sparse ? "coordinate" : "array"), lines));
}

const isSparse = (matrix: MarketCoordinates | MarketArray): matrix is MarketCoordinates => "rows" in matrix || "columns" in matrix;

/** The matrix has lists, and numbers are in them. */
function requireMatrix(matrix: MarketCoordinates | MarketArray, fail: Fail): void {
  if (typeof matrix !== "object" || matrix === null)
    return fail(`the matrix is ${describe(matrix)}: give { shape, rows, columns, values }`);
  const { values, imaginary } = matrix;
  const { rows, columns } = matrix as Partial<MarketCoordinates>;
  for (const [name, list] of Object.entries({
    values,
    ...(isSparse(matrix) && { rows, columns }),
    ...(imaginary !== undefined && { imaginary }),
  })) {
    if (typeof list !== "object" || list === null || !Number.isInteger(list.length))
      fail(`its ${name} are ${describe(list)}: give a list of numbers`);
    for (let n = 0; n < list.length; n++) if (typeof list[n] !== "number") fail(`${name}[${n}] is ${describe(list[n])}: give numbers`);
  }
}

function requireChoice({ field, symmetry }: Chosen, matrix: MarketCoordinates | MarketArray, fail: Fail): void {
  const { shape, imaginary } = matrix;
  if (!MARKET_FIELDS.includes(field)) fail(`the field is ${describe(field)}: give ${MARKET_FIELDS.join(", ")}`);
  if (!MARKET_SYMMETRIES.includes(symmetry)) fail(`the symmetry is ${describe(symmetry)}: give ${MARKET_SYMMETRIES.join(", ")}`);
  const isSize = (n: unknown): boolean => Number.isInteger(n) && (n as number) >= 0 && (n as number) <= MOST_OF_MARKET;
  if (!Array.isArray(shape) || shape.length !== 2 || !shape.every(isSize))
    fail(`its shape is ${describe(shape)}: give numbers of rows and columns, [m, n]`);
  if (imaginary !== undefined && field !== "complex") fail(`it has imaginary parts, which the field ${field} leaves out`);
  if (field === "pattern" && !isSparse(matrix)) fail("an array has values: the field pattern is for coordinates");
  if (symmetry === "hermitian" && field !== "complex") fail("a hermitian matrix is complex: ask for symmetric");
  if (symmetry === "skew-symmetric" && field === "pattern") fail("values of a pattern are 1, and cannot be skew-symmetric");
  if (symmetry !== "general" && shape[0] !== shape[1]) fail(`a matrix of ${shape[0]} x ${shape[1]} cannot be ${symmetry}`);
}

function requireCoordinates({ shape, rows, columns, values }: MarketCoordinates, fail: Fail): void {
  if (rows.length !== values.length || columns.length !== values.length)
    fail(`it has ${rows.length} rows, ${columns.length} columns and ${values.length} values: give one of each for an element`);
  for (let n = 0; n < values.length; n++)
    for (const [name, index, extent] of [
      ["row", rows[n], shape[0]],
      ["column", columns[n], shape[1]],
    ] as const)
      if (!Number.isInteger(index) || index < 0 || index >= extent)
        fail(`element ${n} has the ${name} ${index}, and there are ${extent}, counted from 0`);
}

/** Text of a value in a field, with a space before it; nothing for a pattern. */
function valueText(field: MarketField, re: number, im: number, fail: Fail): string {
  switch (field) {
    case "pattern":
      return "";
    case "integer":
      return ` ${Number.isSafeInteger(re) ? String(re) : fail(`${re} is not a whole number of up to 2^53: ask for real`)}`;
    case "complex":
      return ` ${decimal(re)} ${decimal(im)}`;
    case "real":
      return ` ${decimal(re)}`;
    default:
      return unreachable(field);
  }
}

function decimal(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? "-0" : String(value);
  return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/** An element and its image across the diagonal agree; on the diagonal, it and itself. */
function isImage(symmetry: MarketSymmetry, below: readonly [number, number], above: readonly [number, number], diagonal: boolean): boolean {
  const [re, im] = IMAGE[symmetry];
  // A part that is its own negative is 0: NaN is not.
  if (diagonal) return (re > 0 || below[0] === 0) && (im > 0 || below[1] === 0);
  const same = (a: number, b: number): boolean => a === b || (Number.isNaN(a) && Number.isNaN(b));
  return same(above[0], re * below[0]) && same(above[1], im * below[1]);
}

function* coordinateLines(matrix: MarketCoordinates, { field, symmetry }: Chosen, fail: Fail): Generator<string> {
  const { shape, rows, columns, values, imaginary } = matrix;
  const written = symmetry === "general" ? undefined : lowerTriangle(matrix, symmetry, fail);
  const count = written?.length ?? values.length;
  yield `${shape[0]} ${shape[1]} ${count}`;
  for (let k = 0; k < count; k++) {
    const n = written ? written[k] : k;
    yield `${rows[n] + 1} ${columns[n] + 1}${valueText(field, values[n], imaginary?.[n] ?? 0, fail)}`;
  }
}

/** The number of each element by its row and its column. */
function placesOf(rows: ArrayLike<number>, columns: ArrayLike<number>, fail: Fail): Map<number, Map<number, number>> {
  const places = new Map<number, Map<number, number>>();
  for (let n = 0; n < rows.length; n++) {
    const row = places.get(rows[n]) ?? new Map<number, number>();
    if (row.has(columns[n])) fail(`row ${rows[n]}, column ${columns[n]} is given twice: add them up, or ask for general`);
    places.set(rows[n], row.set(columns[n], n));
  }
  return places;
}

/** Elements on and below the diagonal. Fails where one above is missing or another one. */
function lowerTriangle({ rows, columns, values, imaginary }: MarketCoordinates, symmetry: MarketSymmetry, fail: Fail): number[] {
  const places = placesOf(rows, columns, fail);
  const valueAt = (n: number): [number, number] => [values[n], imaginary?.[n] ?? 0];
  const lower: number[] = [];
  for (let n = 0; n < values.length; n++) {
    const [row, column] = [rows[n], columns[n]];
    const image = places.get(column)?.get(row);
    const [below, above] = row >= column ? [n, image] : [image, n];
    if (below === undefined || above === undefined || !isImage(symmetry, valueAt(below), valueAt(above), row === column))
      fail(`row ${row}, column ${column} and its image across the diagonal are not ${symmetry}: ask for general`);
    // A zero on the diagonal of a skew-symmetric matrix is left out.
    if (row > column || (row === column && symmetry !== "skew-symmetric")) lower.push(n);
  }
  return lower;
}

function* arrayLines({ shape, values, imaginary }: MarketArray, { field, symmetry }: Chosen, fail: Fail): Generator<string> {
  const [rows, columns] = shape;
  const valueAt = (row: number, column: number): [number, number] => {
    const at = row * columns + column;
    return [values[at], imaginary?.[at] ?? 0];
  };
  yield `${rows} ${columns}`;
  for (let column = 0; column < columns; column++)
    for (let row = symmetry === "general" ? 0 : column; row < rows; row++) {
      const value = valueAt(row, column);
      if (symmetry !== "general" && !isImage(symmetry, value, valueAt(column, row), row === column))
        fail(`row ${row}, column ${column} and its image across the diagonal are not ${symmetry}: ask for general`);
      if (row !== column || symmetry !== "skew-symmetric") yield valueText(field, ...value, fail).slice(1);
    }
}

function* inBlocks(head: string, lines: Iterable<string>): Generator<string> {
  let block = [head.slice(0, -1)];
  for (const line of lines) {
    block.push(line);
    if (block.length < BLOCK) continue;
    yield `${block.join("\n")}\n`;
    block = [];
  }
  yield block.length > 0 ? `${block.join("\n")}\n` : "";
}
