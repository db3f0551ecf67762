/*
 * Least squares for models that are linear in some factors, whose functions have a shape (rates, frequencies) that is not: the factors are eliminated, and
 * the shape is found by the method of Levenberg and Marquardt.
 */

type Rows = readonly (readonly number[])[];

/** Samples that a model is fitted to. */
interface Fitted {
  /** Values, each times its weight. */
  readonly wanted: readonly number[];
  /** For a shape, the model's functions at each value, times the value's weight. */
  rows(shape: readonly number[]): Rows;
}

/** The model that is nearest. */
export interface Nearest {
  readonly shape: readonly number[];
  readonly factors: readonly number[];
  /** A standard deviation of each element of the shape, then of each factor; NaN where there are no more values than unknowns. */
  readonly errors: readonly number[];
  /** The sum of the squares of what is left over. */
  readonly squares: number;
}

const ROUNDS = 100;

/** The model nearest to some values, from a first guess of its shape. Undefined if none is found. */
export function nearest(fitted: Fitted, guess: readonly number[]): Nearest | undefined {
  let [shape, now] = [guess, solved(fitted, guess)];
  // Remainder of round-off.
  const exact = 1e-26 * product(fitted.wanted, fitted.wanted);
  let damp = 1e-3;
  for (let round = 0; round < ROUNDS; round++) {
    const slopes = slopesOf(shape, (other) => solved(fitted, other).residuals);
    const step = leastSquares(slopes, now.residuals, damp).map((part) => -part);
    const next = shape.map((value, n) => value + step[n]);
    const then = solved(fitted, next);
    const isBetter = then.squares <= now.squares;
    damp = isBetter ? damp / 10 : damp * 10;
    if (isBetter) [shape, now] = [next, then];
    if (!shape.every(Number.isFinite) || !Number.isFinite(now.squares)) return undefined;
    const isSmall = step.every((part, n) => Math.abs(part) <= 1e-11 * (1 + Math.abs(shape[n])));
    if (isSmall || damp > 1e12 || now.squares <= exact) {
      const { factors, residuals, squares } = now;
      return { shape, factors, squares, errors: errorsOf(unknowns(fitted, shape, factors), residuals) };
    }
  }
  return undefined;
}

function solved(fitted: Fitted, shape: readonly number[]): { factors: number[]; residuals: number[]; squares: number } {
  const rows = fitted.rows(shape);
  const factors = leastSquares(rows, fitted.wanted);
  const residuals = rows.map((row, n) => product(row, factors) - fitted.wanted[n]);
  return { factors, residuals, squares: product(residuals, residuals) };
}

/** For each value, its change with each unknown: the shape's unknowns, then the factors. */
function unknowns(fitted: Fitted, shape: readonly number[], factors: readonly number[]): number[][] {
  const slopes = slopesOf(shape, (other) => fitted.rows(other).map((row) => product(row, factors)));
  return fitted.rows(shape).map((row, n) => [...slopes[n], ...row]);
}

/** For each value, how it changes with each element of the shape. */
function slopesOf(shape: readonly number[], valuesAt: (shape: readonly number[]) => readonly number[]): number[][] {
  const columns = shape.map((value, k) => {
    const step = 1e-6 * Math.max(1e-2, Math.abs(value));
    const [above, below] = [step, -step].map((by) => valuesAt(shape.with(k, value + by)));
    return above.map((each, n) => (each - below[n]) / (2 * step));
  });
  return columns[0].map((_, n) => columns.map((column) => column[n]));
}

/**
 * Standard deviations of unknowns that are fitted by least squares, from what is left over. Neighbours whose residuals are alike count as fewer values: by
 * the sum of the autocorrelations, up to where they vanish.
 * @param rows how each value changes with each unknown
 */
export function errorsOf(rows: Rows, residuals: readonly number[]): number[] {
  const [count, width] = [rows.length, rows[0].length];
  if (count <= width) return rows[0].map(() => NaN);
  const squares = product(residuals, residuals);
  let alike = 1;
  for (let lag = 1; lag < count / 2; lag++) {
    const correlation = product(residuals.slice(lag), residuals.slice(0, -lag)) / squares;
    if (!(correlation > 0.05)) break;
    alike += 2 * correlation;
  }
  const variance = (squares / (count - width)) * Math.min(alike, count / width);
  const { scales, matrix } = normal(rows);
  return scales.map((scale, i) => {
    const column = solve(
      matrix,
      scales.map((_, k) => (k === i ? 1 : 0)),
    );
    return Math.sqrt(Math.max(0, column[i]) * variance) / scale;
  });
}

/** The x for which rows x is nearest to `wanted`; with `damp`, a shorter one. What no row depends on is 0. */
export function leastSquares(rows: Rows, wanted: readonly number[], damp = 0): number[] {
  const { scales, matrix } = normal(rows);
  const products = scales.map((scale, k) => rows.reduce((sum, row, n) => sum + row[k] * wanted[n], 0) / scale);
  const damped = matrix.map((row, i) => row.map((value, j) => (i === j ? value + damp : value)));
  return solve(damped, products).map((value, k) => value / scales[k]);
}

const product = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, n) => sum + value * b[n], 0);

/** The normal equations of columns that are scaled to length 1, and the lengths that they had. */
function normal(rows: Rows): { scales: number[]; matrix: number[][] } {
  const columns = rows[0].map((_, k) => rows.map((row) => row[k]));
  const scales = columns.map((column) => Math.sqrt(product(column, column)) || 1);
  return { scales, matrix: columns.map((a, i) => columns.map((b, j) => product(a, b) / (scales[i] * scales[j]))) };
}

/** Pivots below this are round-off: their unknown is one that nothing depends on, or that others make up for. */
const NOTHING = 1e-14;

/** Solves a symmetric system by elimination. */
function solve(matrix: Rows, wanted: readonly number[]): number[] {
  const left = matrix.map((row) => [...row]);
  const x = [...wanted];
  const isFree = (i: number): boolean => !(Math.abs(left[i][i]) > NOTHING);
  for (let i = 0; i < x.length; i++)
    for (let k = i + 1; k < x.length && !isFree(i); k++) {
      const factor = left[k][i] / left[i][i];
      for (let j = i; j < x.length; j++) left[k][j] -= factor * left[i][j];
      x[k] -= factor * x[i];
    }
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = i + 1; j < x.length; j++) x[i] -= left[i][j] * x[j];
    x[i] = isFree(i) ? 0 : x[i] / left[i][i];
  }
  return x;
}
