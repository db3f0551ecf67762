import { normalPair, philox, uniform } from "isoform/patterns";
import type { Shape } from "./shape.js";
import { sections } from "./shape.js";
import type { Constraints, Seen } from "./source.js";

/** Standard deviations of the unknowns that are drawn: uas, and uas a year, for stars and attitude; uas for the instrument; 1000 (gamma - 1). */
const DRAWN = { stars: 10_000, attitude: 10_000, instrument: 1000, gamma: 0.1 };
/** Sizes of outliers, in standard deviations. */
const OUTLIERS = { least: 10, most: 1000 };
/** Counter words that tell the random numbers of the truth from others with the same seed. */
const UNKNOWNS = 0x5452;
const NOISE = 0x4e4f;
const OUTLYING = 0x4f55;

/** Four random words for number `n` of a kind. */
function words(seed: number, kind: number, n: number): Uint32Array {
  const word = Uint32Array.of(n, 0, kind, 0);
  philox(word, seed, 0);
  return word;
}

function normal(seed: number, kind: number, n: number): number {
  const [a, b, c, d] = words(seed, kind, n);
  return normalPair(uniform(a, b), uniform(c, d))[0];
}

/** A random solution that obeys the constraints; unknowns that are not `seen` in an observation are 0. */
export function randomSolution(shape: Shape, constraints: Constraints, seen: Seen, seed: number): Float64Array {
  const { attitude, instrument, global, unknowns } = sections(shape);
  const size = (j: number) => (j < attitude ? DRAWN.stars : j < instrument ? DRAWN.attitude : j < global ? DRAWN.instrument : DRAWN.gamma);
  const x = Float64Array.from({ length: unknowns }, (_, j) => (seen(j) ? size(j) * normal(seed, UNKNOWNS, j) : 0));
  project(x, constraints);
  return x;
}

/** Noise of each observation in standard deviations: normal, and a fraction `outliers` of them off by 10 to 1000 besides. */
export function randomNoise(rows: number, seed: number, outliers: number): Float64Array {
  return Float64Array.from({ length: rows }, (_, i) => {
    const noise = normal(seed, NOISE, i);
    return outliers > 0 && isOutlier(i, seed, outliers) ? noise + outlier(i, seed) : noise;
  });
}

/** Whether observation `i` is one of the fraction `outliers` that `randomNoise` moves. */
export function isOutlier(i: number, seed: number, outliers: number): boolean {
  const [a, b] = words(seed, OUTLYING, i);
  return uniform(a, b) < outliers;
}

function outlier(i: number, seed: number): number {
  const [, , size, sign] = words(seed, OUTLYING, i);
  const { least, most } = OUTLIERS;
  return (sign & 1 ? 1 : -1) * least * (most / least) ** uniform(size, 0);
}

/** Moves x to the nearest vector for which every constraint row gives 0: x - C^T y with C C^T y = C x, by conjugate gradients on rows of unit norm. */
function project(x: Float64Array, { rowStart, columns, values, first }: Constraints): void {
  const rows = rowStart.length - 1;
  const norms = Float64Array.from({ length: rows }, (_, r) =>
    Math.sqrt(values.subarray(rowStart[r], rowStart[r + 1]).reduce((sum, value) => sum + value * value, 0)),
  );
  const times = (v: Float64Array): Float64Array =>
    norms.map((norm, r) => {
      let sum = 0;
      for (let e = rowStart[r]; e < rowStart[r + 1]; e++) sum += values[e] * v[first + columns[e]];
      return sum / norm;
    });
  const subtract = (v: Float64Array, y: Float64Array, factor: number): void => {
    for (let r = 0; r < rows; r++)
      for (let e = rowStart[r]; e < rowStart[r + 1]; e++) v[first + columns[e]] -= (factor * values[e] * y[r]) / norms[r];
  };
  const dot = (a: Float64Array, b: Float64Array): number => a.reduce((t, e, r) => t + e * b[r], 0);
  const residual = times(x);
  const direction = residual.slice();
  let square = dot(residual, residual);
  const enough = 1e-30 * square;
  for (let step = 0; step < rows && square > enough; step++) {
    const across = new Float64Array(x.length);
    subtract(across, direction, -1);
    const image = times(across);
    const length = square / dot(direction, image);
    subtract(x, direction, length);
    for (let r = 0; r < rows; r++) residual[r] -= length * image[r];
    const next = dot(residual, residual);
    for (let r = 0; r < rows; r++) direction[r] = residual[r] + (next / square) * direction[r];
    square = next;
  }
}
