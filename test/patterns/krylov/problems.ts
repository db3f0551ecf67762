import type { MarketCoordinates } from "../../../src/io/index.js";

/** Elements by coordinates. */
class Builder {
  readonly rows: number[] = [];
  readonly columns: number[] = [];
  readonly values: number[] = [];

  constructor(readonly shape: readonly [number, number]) {}

  add(row: number, column: number, value: number): void {
    this.rows.push(row);
    this.columns.push(column);
    this.values.push(value);
  }
}

/** A five-point operator on n x n points; `wind` makes it unsymmetric, `shift` is taken from the diagonal. */
export function fivePoint(n: number, { wind = 0, shift = 0 } = {}): MarketCoordinates {
  const matrix = new Builder([n * n, n * n]);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      for (const [di, dj, value] of [
        [0, 0, 4 - shift],
        [-1, 0, -1 - wind],
        [1, 0, -1 + wind],
        [0, -1, -1 - wind / 2],
        [0, 1, -1 + wind / 2],
      ])
        if (i + di >= 0 && i + di < n && j + dj >= 0 && j + dj < n) matrix.add(i * n + j, (i + di) * n + j + dj, value);
  return matrix;
}

/** Random rows of three elements and a smooth part: a least-squares problem. */
export function rectangular(random: () => number, m: number, n: number): MarketCoordinates {
  const matrix = new Builder([m, n]);
  for (let row = 0; row < m; row++) {
    matrix.add(row, row % n, 1 + random());
    for (let k = 0; k < 3; k++) matrix.add(row, Math.floor(random() * n), random() - 0.5);
  }
  return matrix;
}

/** S A S with scales of S from 10^-3 to 10^3, A being positive definite. */
export function wideScales(random: () => number, n: number): MarketCoordinates {
  const a = fivePoint(n);
  const scales = Float64Array.from({ length: n * n }, () => 10 ** (6 * random() - 3));
  return { ...a, values: Array.from(a.values, (value, k) => value * scales[a.rows[k]] * scales[a.columns[k]]) };
}
