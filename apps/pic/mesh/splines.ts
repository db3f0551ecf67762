import { helper } from "isoform";

/*
 * Uniform B-splines as piecewise polynomials. The spline N^d_i starts at grid point i and reaches over d + 1 cells. In cell c the splines
 * i = c - d .. c are not zero; piece j = 0 .. d belongs to the spline i = c - d + j, as a polynomial of the place xi in [0, 1) in the cell,
 * coefficients from the highest power down.
 */

/** Factorials and integer coefficients stay exact. */
const MAX_DEGREE = 11;

/** d! times the pieces of degree d, in whole numbers: (xi + d - j) b[d-1, j-1] + (1 + j - xi) b[d-1, j] from b[0, 0] = 1. */
function wholePieces(degree: number): number[][] {
  if (degree === 0) return [[1]];
  const lower = wholePieces(degree - 1);
  return Array.from({ length: degree + 1 }, (_, j) => {
    const [left, right] = [lower[j - 1] ?? [], lower[j] ?? []];
    return Array.from(
      { length: degree + 1 },
      (_, n) => (left[n] ?? 0) + (degree - j) * (left[n - 1] ?? 0) - (right[n] ?? 0) + (1 + j) * (right[n - 1] ?? 0),
    );
  });
}

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
const divided = (pieces: number[][], by: number): number[][] => pieces.map((piece) => piece.map((coefficient) => coefficient / by));

/** The pieces of the splines of a degree from 0 to 11, rounded once: [j][power]. */
export function splinePieces(degree: number): number[][] {
  if (!(Number.isInteger(degree) && degree >= 0 && degree <= MAX_DEGREE)) throw new RangeError(`splines of degree ${degree}`);
  return divided(wholePieces(degree), factorial(degree));
}

/**
 * The primitives of the same splines from the left end of their support, in units of the cell: [j][power], of degree + 1. The primitive of a
 * spline is the sum of all splines of one degree more that start where it does or later.
 */
export function primitivePieces(degree: number): number[][] {
  const higher = wholePieces(degree + 1);
  const sums = Array.from({ length: degree + 1 }, (_, j) =>
    higher.slice(j + 1).reduce((sum, piece) => sum.map((coefficient, n) => coefficient + piece[n])),
  );
  return divided(sums, factorial(degree + 1));
}

/** r_k, k = 0 .. d: the integral of N^d(x) N^d(x + k) in units of the cell, which is N^(2d+1) at the grid point d + 1 + k. */
export function overlaps(degree: number): number[] {
  const pieces = splinePieces(2 * degree + 1);
  return Array.from({ length: degree + 1 }, (_, k) => pieces[degree - k][2 * degree + 1]);
}

/* Helpers for kernels. */

interface Pieces {
  readonly [j: number]: { readonly [power: number]: number; readonly length: number };
  readonly length: number;
}

/** Piece j at xi, by Horner's rule. */
export function pieceAt(pieces: Pieces, j: number, xi: number): number {
  let value = pieces[j][0];
  for (let n = 1; n < pieces[j].length; n++) value = value * xi + pieces[j][n];
  return value;
}

/** A whole number brought into 0 .. cells - 1. */
export function wrapped(index: number, cells: number): number {
  const rest = index % cells;
  return rest < 0 ? rest + cells : rest;
}

/** The coefficient of one of the splines that are not zero in a cell, from 0. */
export function nearby(cell: number, splines: number, cells: number, which: number): number {
  return wrapped(cell - splines + 1 + which, cells);
}
helper(nearby, () => [wrapped]);

/** The coefficients of the splines that are not zero in a cell, and those after them: index[j] of piece j. */
export function indicesOf(cell: number, cells: number, index: Int32Array): void {
  let next = wrapped(cell - index.length + 1, cells);
  for (let j = 0; j < index.length; j++) {
    index[j] = next;
    next = next + 1 < cells ? next + 1 : 0;
  }
}
helper(indicesOf, () => [wrapped]);

/**
 * Values of the splines at x: `s` of degree p, `t` of degree p - 1, whose piece j belongs to coefficient index[j + 1] of `s`. An axis that
 * the problem has not is one cell with one spline of degree 0, in `s` and in `t`.
 */
export function splinesAt(
  x: number,
  h: number,
  cells: number,
  upper: Pieces,
  lower: Pieces,
  s: Float64Array,
  t: Float64Array,
  index: Int32Array,
): void {
  const place = x / h;
  const cell = Math.floor(place);
  const xi = place - cell;
  for (let j = 0; j < s.length; j++) s[j] = pieceAt(upper, j, xi);
  for (let j = 0; j < t.length; j++) t[j] = pieceAt(lower, j, xi);
  indicesOf(cell | 0, cells, index);
}
helper(splinesAt, () => [pieceAt, indicesOf]);
