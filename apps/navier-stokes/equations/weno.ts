import { helper, table } from "isoform";
import type { Real, Values } from "./pointwise.js";

/* Weighted essentially non-oscillatory reconstruction: Jiang and Shu, J. Comput. Phys. 126, 1996. */

const WENO_WEIGHTS = ["js", "z"] as const;
/** Orders of the schemes whose half-widths are 1 to 4. */
export const WENO_ORDERS = [1, 3, 5, 7] as const;
export const WENO_SPLITTINGS = ["roe", "rusanov"] as const;

export interface Weno {
  /** Cells on either side of a face, 1 to 4; the order is one less than twice as much. */
  readonly halfWidth: number;
  /** Weights of Jiang and Shu, or of Borges et al. (J. Comput. Phys. 227, 2008), which take a half-width of 3. */
  readonly weights: (typeof WENO_WEIGHTS)[number];
  /** Characteristic variables, or the conserved ones with the greatest speed of all. */
  readonly splitting: (typeof WENO_SPLITTINGS)[number];
}

interface Reconstruction {
  /** Factors of each candidate's cells, times `by`. */
  readonly candidates: readonly (readonly number[])[];
  readonly by: number;
  readonly ideal: readonly number[];
  /** Smoothness is the sum of squares of differences, times `scales`: by scale and candidate. */
  readonly differences: readonly (readonly (readonly number[])[])[];
  readonly scales: readonly number[];
}

const repeated = <T>(value: T, times: number): T[] => Array.from({ length: times }, () => value);

/** Reconstructions by half-width, from 1 on. Candidate r takes the cells from r - K + 1 to r, counted from the face's. */
const RECONSTRUCTIONS: readonly Reconstruction[] = [
  { candidates: [[1]], by: 1, ideal: [1], differences: [], scales: [] },
  {
    candidates: [
      [-1, 3],
      [1, 1],
    ],
    by: 2,
    ideal: [1 / 3, 2 / 3],
    differences: [repeated([-1, 1], 2)],
    scales: [1],
  },
  {
    candidates: [
      [2, -7, 11],
      [-1, 5, 2],
      [2, 5, -1],
    ],
    by: 6,
    ideal: [0.1, 0.6, 0.3],
    differences: [
      repeated([1, -2, 1], 3),
      [
        [1, -4, 3],
        [1, 0, -1],
        [3, -4, 1],
      ],
    ],
    scales: [13 / 12, 1 / 4],
  },
  {
    candidates: [
      [-6, 26, -46, 50],
      [2, -10, 26, 6],
      [-2, 14, 14, -2],
      [6, 26, -10, 2],
    ],
    by: 24,
    ideal: [1 / 35, 12 / 35, 18 / 35, 4 / 35],
    differences: [
      [
        [-2, 9, -18, 11],
        [1, -6, 3, 2],
        [-2, -3, 6, -1],
        [-11, 18, -9, 2],
      ],
      [
        [-1, 4, -5, 2],
        [0, 1, -2, 1],
        [1, -2, 1, 0],
        [2, -5, 4, -1],
      ],
      repeated([-1, 3, -3, 1], 4),
    ],
    scales: [1 / 36, 13 / 12, 781 / 720],
  },
];

/** A sum over cells whose factors add up to 0, as one over differences of neighbours: these take the sum of the factors after them. */
function overDifferences(factors: readonly number[]): number[] {
  let left = 0;
  return factors.slice(1).map((_, j) => (left -= factors[j]));
}

/** Keeps weights finite where a candidate is smooth. */
const SMALL = 1e-6;
const TINY = Math.fround(1e-35);

/**
 * The sum of the values at a face from its two sides, each of 2 W - 1 cells in order towards the face and beyond, from K of these on either side.
 * `scale` multiplies smoothness.
 */
export function reconstruction(K: number, W: number, weights: Weno["weights"], real: Real) {
  const { candidates, by, ideal, differences, scales } = RECONSTRUCTIONS[K - 1];
  if (K === 1)
    return helper(
      (left: Values, right: Values, _scale: number): number => left[W - 1] + right[W - 1],
      () => [W],
    );
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const first = W - K;
  const [parts, isZ] = [scales.length, weights === "z" && K === 3];
  // One division for all weights, as long as the product of their denominators stays within f32; and one for both sides in f64.
  const [isShort, isJoint] = [K < 4, real.type === "f64"];
  const linear = table(real, ideal);
  // Differences of candidates from the cell before the face, times their ideal weight.
  const added = candidates.map((row, r) => overDifferences(row.map((factor, j) => (j === K - 1 - r ? factor - by : factor))));
  const factors = table(
    real,
    added.map((row, r) => row.map((factor) => (ideal[r] * factor) / by)),
  );
  const steps = table(real, differences.flat().map(overDifferences));
  const squares = table(real, scales);

  /** Puts the sum of weights into `out`, and the weighted sum of the candidates' differences from the cell before the face. */
  const weigh = helper(
    (v: Values, scale: number, out: Values): void => {
      const d = new Real(2 * K - 2);
      for (let j = 0; j < 2 * K - 2; j++) d[j] = v[first + j + 1] - v[first + j];
      const smoothness = new Real(K);
      for (let r = 0; r < K; r++) {
        smoothness[r] = isZ ? TINY : SMALL;
        for (let part = 0; part < parts; part++) {
          let difference = 0;
          for (let j = 0; j < K - 1; j++) if (steps[part * K + r][j] !== 0) difference += steps[part * K + r][j] * d[r + j];
          smoothness[r] += squares[part] * scale * (difference * difference);
        }
      }
      const tau = isZ ? Math.abs(smoothness[0] - smoothness[K - 1]) : 0;
      for (let r = 0; r < K; r++) {
        let weight = 1;
        if (isZ) weight = (smoothness[r] + tau) / smoothness[r];
        else if (isShort) {
          for (let other = 0; other < K; other++) if (other !== r) weight *= smoothness[other] * smoothness[other];
        } else weight /= smoothness[r] * smoothness[r];
        let change = 0;
        for (let j = 0; j < K - 1; j++) change += factors[r][j] * d[r + j];
        out[0] += linear[r] * weight;
        out[1] += weight * change;
      }
    },
    () => [Real, K, first, parts, isZ, isShort, factors, linear, steps, squares, SMALL, TINY],
  );
  return helper(
    (left: Values, right: Values, scale: number): number => {
      const [a, b] = [new Real(2), new Real(2)];
      weigh(left, scale, a);
      weigh(right, scale, b);
      const change = isJoint ? (a[1] * b[0] + b[1] * a[0]) / (a[0] * b[0]) : a[1] / a[0] + b[1] / b[0];
      return left[W - 1] + right[W - 1] + change;
    },
    () => [Real, W, isJoint, weigh],
  );
}
