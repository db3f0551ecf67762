import { helper, table } from "isoform";
import type { Cell } from "isoform/grid";
import { CONSERVED, STATE, type Conserved, type Pointwise, type Real, type Temperatures, type Values } from "./pointwise.js";

/*
 * Fluxes by weighted essentially non-oscillatory reconstruction (Jiang and Shu, J. Comput. Phys. 126, 1996) of split fluxes, in
 * characteristic variables of the Roe average or component by component.
 */

export const WENO_WEIGHTS = ["js", "z"] as const;
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
function reconstruction(K: number, W: number, weights: Weno["weights"], real: Real) {
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

/** Factors of the smoothness, for fields of a density's or a momentum's kind. */
export interface WenoScales {
  /** 1 / (rho0 u0)^2 */
  readonly density: number;
  /** 1 / (rho0 u0^2)^2 */
  readonly momentum: number;
  /** 1 / (rho0 u0^3)^2 */
  readonly energy: number;
}

/**
 * The flux along axis n, in direction (dx, dy, dz), through the face after the cell which is `from` cells further. Faces that are `isNear` the ends
 * of an axis have a half-width `K` less than the scheme's, or 1.
 */
export function wenoFlux({ halfWidth, weights, splitting }: Weno, cell: Pointwise, scales: WenoScales, real: Real, isNear = false) {
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const W = halfWidth;
  const cells = 2 * W;
  const { stateOf, enthalpyOf, temperatureOf, heatOf } = cell;
  const isRoe = splitting === "roe";
  // Split fluxes are taken twice, and sound waves twice more.
  const scaleOf = table(
    real,
    isRoe
      ? [scales.density / 16, scales.density / 4, scales.momentum / 4, scales.momentum / 4, scales.density / 16]
      : [scales.density / 4, scales.momentum / 4, scales.momentum / 4, scales.momentum / 4, scales.energy / 4],
  );

  /** Puts the sums of the values from both sides of a face into `found`. */
  const reconstructAll = (K: number) => {
    const reconstruct = reconstruction(K, W, weights, real);
    return helper(
      (ahead: Values, behind: Values, found: Values): void => {
        for (let k = 0; k < CONSERVED; k++) {
          const [left, right] = [new Real(cells - 1), new Real(cells - 1)];
          for (let j = 0; j < cells - 1; j++) {
            left[j] = ahead[cells * k + j];
            right[j] = behind[cells * k + cells - 1 - j];
          }
          found[k] = reconstruct(left, right, scaleOf[k]);
        }
      },
      () => [Real, CONSERVED, cells, reconstruct, scaleOf],
    );
  };
  const whole = reconstructAll(W);
  const [narrow1, narrow2, narrow3] = [1, 2, 3].map((K) => reconstructAll(Math.min(K, W)));
  const most = Math.max(W - 1, 1);

  return helper(
    (
      w: Conserved,
      T: Temperatures,
      c: Cell<3>,
      n: number,
      dx: number,
      dy: number,
      dz: number,
      from: number,
      K: number,
      flux: Values,
    ): void => {
      // Velocities along the axis and pressures, and the greatest speeds: of u - c, u and u + c.
      const [along, pressure] = [new Real(cells), new Real(cells)];
      let [slow, middle, fast] = [0, 0, 0];
      for (let m = 0; m < cells; m++) {
        const s = new Real(STATE);
        const away = from + m + 1 - W;
        stateOf(w, T, c, away * dx, away * dy, away * dz, s);
        const heat = heatOf(s[5]);
        const sound = Math.sqrt((heat / (heat - 1)) * s[5]);
        slow = Math.max(slow, Math.abs(s[1 + n] - sound));
        middle = Math.max(middle, Math.abs(s[1 + n]));
        fast = Math.max(fast, Math.abs(s[1 + n] + sound));
        along[m] = s[1 + n];
        pressure[m] = s[4];
      }
      if (!isRoe) {
        slow = Math.max(slow, fast);
        middle = slow;
        fast = slow;
      }

      // The Roe average.
      const [a, b] = [new Real(STATE), new Real(STATE)];
      stateOf(w, T, c, from * dx, from * dy, from * dz, a);
      stateOf(w, T, c, (from + 1) * dx, (from + 1) * dy, (from + 1) * dz, b);
      const ratio = Math.sqrt(b[0] / a[0]);
      const part = 1 / (ratio + 1);
      const u = new Real(3);
      for (let k = 0; k < 3; k++) u[k] = (ratio * b[1 + k] + a[1 + k]) * part;
      const H = (ratio * enthalpyOf(b) + enthalpyOf(a)) * part;
      const q = 0.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
      const mean = temperatureOf(H - q, a[5]);
      const heat = heatOf(mean) - 1;
      const perHeat = 1 / heat;
      const sound = Math.sqrt((1 + perHeat) * mean);
      const inverse = 1 / sound;
      const t1 = n === 0 ? 1 : 0;
      const t2 = n === 2 ? 1 : 2;

      // Waves of a cell by the left eigenvectors: sound waves are the sum of an even and an odd part, and their difference.
      const b2 = perHeat * inverse * inverse;
      const b1 = mean * inverse * inverse - b2 * (H - mean - 2 * q);
      const even = new Real(3);
      for (let k = 0; k < 3; k++) even[k] = b2 * u[k];
      const odd = u[n] * inverse;
      const ahead = new Real(CONSERVED * cells);
      const behind = new Real(CONSERVED * cells);
      for (let m = 0; m < cells; m++) {
        const away = from + m + 1 - W;
        const x = new Real(CONSERVED);
        for (let k = 0; k < CONSERVED; k++) x[k] = w.at(c, away * dx, away * dy, away * dz)[k];
        // The flux is the velocity times the values, and what the pressure adds.
        const [values, added] = [new Real(CONSERVED), new Real(CONSERVED)];
        if (isRoe) {
          const sum = b1 * x[0] - even[0] * x[1] - even[1] * x[2] - even[2] * x[3] + b2 * x[4];
          const difference = odd * x[0] - inverse * x[1 + n];
          values[0] = sum + difference;
          values[1] = x[0] - sum;
          values[2] = x[1 + t1] - u[t1] * x[0];
          values[3] = x[1 + t2] - u[t2] * x[0];
          values[4] = sum - difference;
          const push = b2 * pressure[m] * (along[m] - u[n]);
          added[0] = push - inverse * pressure[m];
          added[1] = -push;
          added[4] = push + inverse * pressure[m];
        } else {
          for (let k = 0; k < CONSERVED; k++) values[k] = x[k];
          added[1 + n] = pressure[m];
          added[4] = along[m] * pressure[m];
        }
        for (let k = 0; k < CONSERVED; k++) {
          const speed = k === 0 ? slow : k === 4 ? fast : middle;
          ahead[cells * k + m] = (along[m] + speed) * values[k] + added[k];
          behind[cells * k + m] = (along[m] - speed) * values[k] + added[k];
        }
      }

      const found = new Real(CONSERVED);
      if (!isNear) whole(ahead, behind, found);
      else if (most === 1 || K === 1) narrow1(ahead, behind, found);
      else if (most === 2 || K === 2) narrow2(ahead, behind, found);
      else narrow3(ahead, behind, found);
      if (isRoe) {
        const even = 0.25 * (found[0] + found[4]);
        const odd = 0.25 * sound * (found[4] - found[0]);
        const [entropy, first, second] = [0.5 * found[1], 0.5 * found[2], 0.5 * found[3]];
        const sum = even + entropy;
        flux[0] = sum;
        for (let k = 0; k < 3; k++) flux[1 + k] = u[k] * sum;
        flux[1 + n] += odd;
        flux[1 + t1] += first;
        flux[1 + t2] += second;
        flux[4] = H * even + u[n] * odd + (H - mean - mean * heat) * entropy + u[t1] * first + u[t2] * second;
      } else for (let k = 0; k < CONSERVED; k++) flux[k] = 0.5 * found[k];
    },
    () => [
      Real,
      W,
      cells,
      CONSERVED,
      STATE,
      isRoe,
      isNear,
      most,
      stateOf,
      enthalpyOf,
      temperatureOf,
      heatOf,
      whole,
      narrow1,
      narrow2,
      narrow3,
    ],
  );
}
