import { IsoformError, View } from "isoform";
import { overlaps, splinePieces } from "./splines.js";

/** One axis of the periodic box: `cells` cells of equal size over `length`, splines of `degree` and of one degree less. */
export interface Axis {
  readonly cells: number;
  readonly length: number;
  readonly degree: number;
}

/** Axis in place of one that a problem does not have: everything is constant along it. */
const ABSENT: Axis = { cells: 1, length: 1, degree: 0 };

/** The phase space: the axes of space, and how many components the velocity has. */
export interface Mesh {
  readonly axes: readonly [Axis, Axis, Axis];
  readonly velocities: 1 | 2 | 3;
}

/** Mass matrices are inverted along an axis, where all cells meet all others in every step. */
const MOST_CELLS = 8192;

/**
 * A periodic mesh from the cells and lengths of one to three axes.
 * @param degree of the splines, 1 to 5
 * @param velocities components of the velocity
 * @throws IsoformError for another degree, fewer than 2 degree + 1 cells along an axis, or more than 8192
 */
export function meshOf(cells: readonly number[], lengths: readonly number[], degree: number, velocities: 1 | 2 | 3): Mesh {
  if (!(Number.isInteger(degree) && degree >= 1 && degree <= 5))
    throw new IsoformError(`pic: splines of degree ${degree} do not exist here: choose a --degree from 1 to 5`);
  const axes = [0, 1, 2].map((a) => {
    if (a >= cells.length) return ABSENT;
    if (cells[a] > MOST_CELLS)
      throw new IsoformError(
        `pic: ${cells[a]} cells along axis ${a + 1}; at most ${MOST_CELLS} fit its dense inverses: choose fewer --cells`,
      );
    if (!(Number.isInteger(cells[a]) && cells[a] > 2 * degree))
      throw new IsoformError(`pic: ${cells[a]} cells along axis ${a + 1}; splines of degree ${degree} need ${2 * degree + 1} or more`);
    return { cells: cells[a], length: lengths[a], degree };
  });
  return { axes: [axes[0], axes[1], axes[2]], velocities };
}

/** Whether a problem has the axis. */
export const isPresent = ({ degree }: Axis): boolean => degree > 0;
/** Length of a cell. */
export const cellSize = ({ cells, length }: Axis): number => length / cells;
/** Degrees of freedom of a scalar. */
export const dofs = ({ axes }: Mesh): number => axes.reduce((n, { cells }) => n * cells, 1);
/** Volume of the box. */
export const volume = ({ axes }: Mesh): number => axes.reduce((v, { length }) => v * length, 1);
/** Axes that the problem has. */
export const dimension = ({ axes }: Mesh): number => axes.filter(isPresent).length;

/** Pieces of the splines of an axis, and of the splines of one degree less; if the axis is absent both are the constant 1. */
export const axisSplinePieces = ({ degree }: Axis): { upper: number[][]; lower: number[][] } => ({
  upper: splinePieces(degree),
  lower: splinePieces(Math.max(0, degree - 1)),
});

/** Axes a, b, c in cyclic order from a, counted from 0. */
export const cyclic = (a: number): [a: number, b: number, c: number] => [a, (a + 1) % 3, (a + 2) % 3];

/** A scalar of storage order [z][y][x] seen with its axes in cyclic order from axis a: [a][b][c]. */
export function along(scalar: View<"f64">, a: number): View<"f64", 3> {
  const order = cyclic(a).map((axis) => 2 - axis);
  const pick = (list: readonly number[]): number[] => order.map((axis) => list[axis]);
  return new View(scalar.buffer, scalar.type, pick(scalar.shape), pick(scalar.strides), scalar.offset);
}

/*
 * Circulant matrices, by their row 0: (A u)_i = sum over k of row[k] u_(i + k), indices modulo the number of cells.
 */

/** Row 0 of a circulant matrix. */
export type CirculantRow = readonly number[];

function circulantRow(cells: number, entries: readonly (readonly [offset: number, value: number])[]): CirculantRow {
  const row = Array<number>(cells).fill(0);
  for (const [offset, value] of entries) row[((offset % cells) + cells) % cells] += value;
  return row;
}

/** Mass matrix of the splines of an axis of some degree: h r_|k|. */
export function massRow(axis: Axis, degree: number): CirculantRow {
  if (!isPresent(axis)) return [1];
  const h = cellSize(axis);
  const r = overlaps(degree);
  return circulantRow(
    axis.cells,
    Array.from({ length: 2 * degree + 1 }, (_, n) => [n - degree, h * r[Math.abs(n - degree)]] as const),
  );
}

/** Integrals of the splines of degree p against the splines of degree p - 1: h N^(2p)(p + k) for the one that starts k cells later. */
export function mixedRow(axis: Axis): CirculantRow {
  if (!isPresent(axis)) return [1];
  const { cells, degree } = axis;
  const pieces = splinePieces(2 * degree);
  return circulantRow(
    cells,
    Array.from({ length: 2 * degree }, (_, j) => [degree - j, cellSize(axis) * pieces[j][2 * degree]] as const),
  );
}

/** (D u)_i = (u_i - u_(i-1)) / h. */
export const differenceRow = (axis: Axis): CirculantRow => {
  const h = cellSize(axis);
  return circulantRow(axis.cells, [
    [0, 1 / h],
    [-1, -1 / h],
  ]);
};

/** The row of the transposed matrix. */
export const transposed = (row: CirculantRow): CirculantRow => row.map((_, k) => row[(row.length - k) % row.length]);

/** The row of the product of two circulant matrices. */
export const product = (a: CirculantRow, b: CirculantRow): CirculantRow =>
  a.map((_, k) => a.reduce((sum, value, m) => sum + value * b[(k - m + a.length) % a.length], 0));

/** Eigenvalues of a symmetric circulant matrix, m = 0 .. N - 1. */
export const eigenvalues = (row: CirculantRow): CirculantRow =>
  row.map((_, m) => row.reduce((sum, value, k) => sum + value * Math.cos((2 * Math.PI * ((m * k) % row.length)) / row.length), 0));

/** The row of the inverse of a symmetric circulant matrix. */
export function inverse(row: CirculantRow): CirculantRow {
  const reciprocal = eigenvalues(row).map((value) => 1 / value);
  return eigenvalues(reciprocal).map((value) => value / row.length);
}
