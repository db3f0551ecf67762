import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { requireOptions, requireThing } from "../../base/own.js";
import { unreachable } from "../../base/unreachable.js";
import type { Device } from "../../device/device.js";
import { requireNumber, type View } from "../../device/memory/view.js";
import type { ScalarToken } from "../../kernel/declare/params.js";
import { makePattern, requireSeparate, requireView, type Pattern, type PatternOptions } from "../pattern.js";
import { storeBlocks, storeRows, storeSlices, type SparseStorage } from "./formats.js";
import {
  MOST_INDICES,
  addUp,
  compressRows,
  requireIndices,
  rowsOfElements,
  transposeRows,
  type CompressedRows,
  type SparseType,
} from "./rows.js";
import { planTriangle } from "./triangles.js";

const FORMATS = ["csr", "sell", "bsr"] as const;
/** Ways to store a sparse matrix (docs/sparse.md). */
export type SparseFormat = (typeof FORMATS)[number];

/** Arguments of `sparseMatrix`. */
export interface SparseElements {
  /** The row of each element, from 0 on. Or give `offsets`. */
  readonly rows?: ArrayLike<number>;
  /** Compressed rows: offsets[r] to offsets[r + 1] - 1 are the elements of row r. */
  readonly offsets?: ArrayLike<number>;
  /** The column of each element, from 0 on. */
  readonly columns: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  /** Rows and columns. Default: one more than the greatest index of each. */
  readonly shape?: readonly [number, number];
  /** Default: `csr` */
  readonly format?: SparseFormat;
  /** Rows, and columns, of a block of the format `bsr`: 2 to 8. */
  readonly block?: number;
  /** f64 or f32. Default: f32 if `values` is a Float32Array, else f64. */
  readonly type?: ScalarToken<SparseType>;
}

/** Arguments of `matrix.apply` and `matrix.applyAll`: y = alpha A x + beta y. */
export interface SparseProduct {
  /** As many elements, or rows, as the matrix has columns. */
  x: View<SparseType>;
  /** As many elements, or rows, as the matrix has rows, in memory of its own. */
  y: View<SparseType>;
  /** Factor of the product. Default: 1 */
  alpha?: number;
  /** Factor of what y holds before. Default: 0, and y is not read. */
  beta?: number;
}

/** Arguments of `matrix.solve`: T x = b, where T is a triangle of the matrix. */
export interface TriangleSolve {
  /** Which elements count, besides the diagonal; others are ignored. */
  triangle: "lower" | "upper";
  /** The diagonal counts as 1, whatever the matrix has there. Default: false */
  unitDiagonal?: boolean;
  b: View<SparseType>;
  /** May be the view `b`, or has memory of its own. */
  x: View<SparseType>;
}

/**
 * Makes a sparse matrix from coordinates or compressed rows on the host. Elements are sorted by row and column; elements of one place are added up in the order in which
 * they are given. Zeros that are given are kept.
 *
 * @throws LaunchError for indices outside of the shape, offsets that fall, and numbers of elements that differ
 */
export function sparseMatrix(device: Device, what: SparseElements): SparseMatrix {
  requireOptions("sparseMatrix", what, ["rows", "offsets", "columns", "values", "shape", "format", "block", "type"]);
  requireThing(
    "sparseMatrix",
    device,
    typeof (device as Partial<Device> | undefined)?.from === "function",
    "give the device first, what await open(...) returns",
  );
  const { columns, values, format = "csr", block, type: token } = what;
  requireThing("sparseMatrix, for format,", format, FORMATS.includes(format), `give ${FORMATS.join(", ")}`);
  for (const name of ["rows", "offsets", "columns", "values"] as const)
    if (what[name] !== undefined || name === "columns" || name === "values")
      requireThing(`sparseMatrix, for ${name},`, what[name], isList(what[name]), "give an array of numbers");
  const type = token?.type ?? (values instanceof Float32Array ? "f32" : "f64");
  requireThing("sparseMatrix, for type,", token, type === "f64" || type === "f32", "give f64 or f32");
  const rows = rowsGiven(what);
  if (rows.length !== values.length || columns.length !== values.length)
    throw new LaunchError(
      `sparseMatrix: ${rows.length} rows, ${columns.length} columns and ${values.length} values: give one of each for an element`,
    );
  for (let n = 0; n < values.length; n++) requireNumber(() => `sparseMatrix: values[${n}]`, values[n]);
  const shape = shapeOf(what, rows);
  requireIndices("rows", rows, shape[0]);
  requireIndices("columns", columns, shape[1]);
  requireBlock(format, block, shape);
  const { places, ...elements } = compressRows({ shape, rows, columns, values }, type);
  return new SparseMatrix(device, elements, { type, format, block, places });
}

const isList = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  Number.isInteger((value as ArrayLike<number>).length) &&
  !("buffer" in value && "strides" in value);

/** The row of each element, by coordinates or by offsets. */
function rowsGiven({ rows, offsets, values }: SparseElements): ArrayLike<number> {
  if ((rows === undefined) === (offsets === undefined))
    throw new LaunchError("sparseMatrix: give rows (a row for each element) or offsets (compressed rows), one of the two");
  if (offsets === undefined) return rows!;
  if (offsets.length < 1 || offsets[0] !== 0) throw new LaunchError(`sparseMatrix: offsets begin with ${offsets[0]}: they begin with 0`);
  for (let row = 0; row + 1 < offsets.length; row++)
    if (!(Number.isInteger(offsets[row + 1]) && offsets[row + 1] >= offsets[row]))
      throw new LaunchError(
        `sparseMatrix: offsets[${row + 1}] is ${offsets[row + 1]} after ${offsets[row]}: offsets are whole numbers that do not fall`,
      );
  const last = offsets[offsets.length - 1];
  if (last !== values.length) throw new LaunchError(`sparseMatrix: offsets end with ${last}, and there are ${values.length} values`);
  return rowsOfElements({ offsets: Int32Array.from(offsets) });
}

function shapeOf({ shape, offsets, columns }: SparseElements, rows: ArrayLike<number>): readonly [number, number] {
  // Others are refused where indices are checked.
  const extentOf = (indices: ArrayLike<number>): number => {
    let extent = 0;
    for (let n = 0; n < indices.length; n++) if (indices[n] >= extent && indices[n] < MOST_INDICES) extent = Math.floor(indices[n]) + 1;
    return extent;
  };
  if (shape === undefined) return [offsets ? offsets.length - 1 : extentOf(rows), extentOf(columns)];
  const isExtent = (n: unknown): boolean => Number.isInteger(n) && (n as number) >= 0 && (n as number) <= MOST_INDICES;
  requireThing("sparseMatrix, for shape,", shape, isList(shape) && shape.length === 2 && shape.every(isExtent), "give [rows, columns]");
  if (offsets && offsets.length !== shape[0] + 1)
    throw new LaunchError(`sparseMatrix: ${offsets.length} offsets for ${shape[0]} rows: give one more than rows`);
  return [shape[0], shape[1]];
}

function requireBlock(format: SparseFormat, block: number | undefined, shape: readonly [number, number]): void {
  if (format !== "bsr") {
    if (block !== undefined) throw new LaunchError(`sparseMatrix: a block of ${block} is for the format bsr, and the format is ${format}`);
    return;
  }
  const fits = Number.isInteger(block) && block! >= 2 && block! <= 8;
  requireThing("sparseMatrix, for block,", block, fits, "give the rows of a block of the format bsr, 2 to 8");
  if (shape.some((extent) => extent % block! !== 0))
    throw new LaunchError(
      `sparseMatrix: ${shape.join(" x ")} is not a multiple of blocks of ${block} x ${block}: take another block, or the format csr`,
    );
}

interface SparseTraits {
  readonly type: SparseType;
  readonly format: SparseFormat;
  readonly block?: number;
  /** The place of each element that was given; each is an element if omitted. */
  readonly places?: Int32Array;
}

function stored(device: Device, elements: CompressedRows, { type, format, block }: SparseTraits): SparseStorage {
  switch (format) {
    case "csr":
      return storeRows(device, elements, type);
    case "sell":
      return storeSlices(device, elements, type);
    case "bsr":
      return storeBlocks(device, elements, type, block!);
    default:
      return unreachable(format);
  }
}

/** A sparse matrix in a device's memory; its elements stay on the host, too. Made by `sparseMatrix`. */
export class SparseMatrix {
  readonly type: SparseType;
  readonly format: SparseFormat;
  private readonly block?: number;
  private readonly storage: SparseStorage;
  private readonly places?: Int32Array;
  private sorted: CompressedRows;

  constructor(
    readonly device: Device,
    elements: CompressedRows,
    { type, format, block, places }: SparseTraits,
  ) {
    this.sorted = elements;
    this.places = places;
    this.type = type;
    this.format = format;
    this.block = block;
    this.storage = stored(device, elements, { type, format, block });
  }

  /** The elements on the host, sorted by row and column. */
  get elements(): CompressedRows {
    return this.sorted;
  }

  /** Rows and columns. */
  get shape(): readonly [number, number] {
    return this.elements.shape;
  }

  /** Number of elements, given zeros included. */
  get nonZeros(): number {
    return this.elements.columns.length;
  }

  /**
   * Prepares y = alpha A x + beta y.
   *
   * @throws LaunchError where lengths or types do not fit, and where x and y share memory
   */
  apply(what: SparseProduct, options: PatternOptions = {}): Pattern {
    return this.prepare("matrix.apply", 1, what, options);
  }

  /**
   * The same for several right sides at once: x and y have rank 2 and a column for each. The matrix is read once, and each column has the bits of `apply`.
   *
   * @throws LaunchError as `apply`
   */
  applyAll(what: SparseProduct, options: PatternOptions = {}): Pattern {
    return this.prepare("matrix.applyAll", 2, what, options);
  }

  private prepare(name: string, rank: 1 | 2, what: SparseProduct, options: PatternOptions): Pattern {
    requireOptions(name, what, ["x", "y", "alpha", "beta"]);
    const { x, y, alpha = 1, beta = 0 } = what;
    const [rows, columns] = this.shape;
    this.requireVector(name, "x", x, rank, columns);
    this.requireVector(name, "y", y, rank, rows);
    if (rank === 2 && x.shape[1] !== y.shape[1])
      throw new LaunchError(`${name}: x has ${x.shape[1]} columns and y ${y.shape[1]}: give one for each right side`);
    requireNumber(() => `${name}: alpha`, alpha);
    requireNumber(() => `${name}: beta`, beta);
    requireSeparate(name, [["y", y]], [["x", x]]);
    return makePattern(this.device, options, (steps) => {
      if (y.size > 0) this.storage.plan(steps, { x, y, alpha, beta });
    });
  }

  /**
   * Takes other values for the same rows and columns, in the order in which the elements were given (of a transpose, its own order), with elements of one place added up. Products
   * that are prepared use them, and so do solvers, from their next run on; triangular solves, transposes and preconditioners that were made before keep the old ones.
   *
   * @throws LaunchError for another number of values
   */
  update(values: ArrayLike<number>): void {
    const { type, storage, sorted } = this;
    const places = this.places ?? Int32Array.from(sorted.columns, (_, k) => k);
    requireThing("matrix.update", values, isList(values), "give an array of numbers");
    if (values.length !== places.length)
      throw new LaunchError(
        `matrix.update: ${values.length} values for ${places.length} elements: give one for each element that was given`,
      );
    for (let n = 0; n < values.length; n++) requireNumber(() => `matrix.update: values[${n}]`, values[n]);
    this.sorted = { ...sorted, values: addUp(places, values, sorted.columns.length, type) };
    storage.update(this.sorted.values);
  }

  /** Rows and columns exchanged, in memory of its own; sorted on the host. */
  transpose(): SparseMatrix {
    const { device, type, format, block } = this;
    const { places: _, ...elements } = transposeRows(this.elements, type);
    return new SparseMatrix(device, elements, { type, format, block });
  }

  /**
   * Prepares the solution of T x = b, where T is the lower or the upper triangle of the matrix. Rows that do not need each other are solved in parallel, level by
   * level; the levels are found on the host.
   *
   * @throws LaunchError for a matrix that is not square, and for a diagonal element that is missing or 0
   */
  solve(what: TriangleSolve, options: PatternOptions = {}): Pattern {
    const name = "matrix.solve";
    requireOptions(name, what, ["triangle", "unitDiagonal", "b", "x"]);
    const { triangle, unitDiagonal = false, b, x } = what;
    requireThing(`${name}, for triangle,`, triangle, triangle === "lower" || triangle === "upper", 'give "lower" or "upper"');
    requireThing(`${name}, for unitDiagonal,`, unitDiagonal, typeof unitDiagonal === "boolean", "give true or false");
    const [rows, columns] = this.shape;
    if (rows !== columns) throw new LaunchError(`${name}: the matrix has ${rows} rows and ${columns} columns: a triangle is square`);
    this.requireVector(name, "b", b, 1, rows);
    this.requireVector(name, "x", x, 1, rows);
    if (!isSameView(b, x)) requireSeparate(name, [["x", x]], [["b", b]]);
    return makePattern(this.device, options, (steps) =>
      planTriangle(steps, this.elements, this.type, { triangle, unitDiagonal, b: b as View<SparseType, 1>, x: x as View<SparseType, 1> }),
    );
  }

  private requireVector(name: string, vector: string, view: View<SparseType>, rank: number, extent: number): void {
    requireView(`${name}, for ${vector},`, view);
    if (view.type !== this.type)
      throw new LaunchError(`${name}: ${vector} is of ${String(view.type)} and the matrix of ${this.type}: types must be equal`);
    if (view.rank !== rank || view.shape[0] !== extent)
      throw new LaunchError(
        `${name} of ${this.shape.join(" x ")}: ${vector} has the shape [${view.shape}]: give ${rank === 1 ? `[${extent}]` : `[${extent}, right sides]`}`,
      );
  }

  /** Gives back the device's memory. Patterns of the matrix cannot run after it. */
  free(): void {
    for (const view of this.storage.views) view.free();
  }

  toString(): string {
    return `sparse matrix of ${this.shape.join(" x ")}, ${this.nonZeros} elements of ${this.type}, ${this.format}, on ${describe(this.device.name)}`;
  }
}

/** The same elements, in the same places. */
const isSameView = (a: View, b: View): boolean =>
  a.buffer === b.buffer && a.offset === b.offset && a.strides.join() === b.strides.join() && a.shape.join() === b.shape.join();
