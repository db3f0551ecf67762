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
  /** Of Jiang and Shu, or of Borges et al. (J. Comput. Phys. 227, 2008), which takes a half-width of 3. */
  readonly weights: (typeof WENO_WEIGHTS)[number];
  /** Characteristic variables, or the conserved ones with the greatest speed of all. */
  readonly splitting: (typeof WENO_SPLITTINGS)[number];
}

interface Reconstruction {
  /** By candidate: what its cells are multiplied by. */
  readonly candidates: readonly (readonly number[])[];
  readonly ideal: readonly number[];
  /** Smoothness is the sum of squares of differences, times `scales`: by scale and candidate. */
  readonly differences: readonly (readonly (readonly number[])[])[];
  readonly scales: readonly number[];
}

const divided = (by: number, rows: readonly (readonly number[])[]): number[][] => rows.map((row) => row.map((value) => value / by));
const repeated = <T>(value: T, times: number): T[] => Array.from({ length: times }, () => value);

/** By half-width, from 1 on. Candidate r takes the cells from r - K + 1 to r behind the face's. */
const RECONSTRUCTIONS: readonly Reconstruction[] = [
  { candidates: [[1]], ideal: [1], differences: [], scales: [] },
  {
    candidates: divided(2, [
      [-1, 3],
      [1, 1],
    ]),
    ideal: [1 / 3, 2 / 3],
    differences: [repeated([-1, 1], 2)],
    scales: [1],
  },
  {
    candidates: divided(6, [
      [2, -7, 11],
      [-1, 5, 2],
      [2, 5, -1],
    ]),
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
    candidates: divided(24, [
      [-6, 26, -46, 50],
      [2, -10, 26, 6],
      [-2, 14, 14, -2],
      [6, 26, -10, 2],
    ]),
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

/** Keeps weights finite where a candidate is smooth. */
const SMALL = 1e-6;
const TINY = Math.fround(1e-35);

/**
 * The value at the face behind cell 0 of 2 W - 1 cells around it, from K of these on either side. `scale` multiplies smoothness.
 */
function reconstruction(K: number, W: number, weights: Weno["weights"], real: Real) {
  const { candidates, ideal, differences, scales } = RECONSTRUCTIONS[K - 1];
  if (K === 1)
    return helper(
      (v: Values, _scale: number): number => v[W - 1],
      () => [W],
    );
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const first = W - K;
  const [parts, isZ] = [scales.length, weights === "z" && K === 3];
  // One division for all weights, as long as the product of their denominators stays within f32.
  const isShort = K < 4;
  const factors = table(real, candidates);
  const linear = table(real, ideal);
  const steps = table(real, differences.flat());
  const squares = table(real, scales);
  return helper(
    (v: Values, scale: number): number => {
      const values = new Real(K);
      const smoothness = new Real(K);
      for (let r = 0; r < K; r++) {
        for (let j = 0; j < K; j++) values[r] += factors[r][j] * v[first + r + j];
        for (let part = 0; part < parts; part++) {
          let difference = 0;
          for (let j = 0; j < K; j++) if (steps[part * K + r][j] !== 0) difference += steps[part * K + r][j] * v[first + r + j];
          smoothness[r] += squares[part] * difference * difference;
        }
        smoothness[r] = smoothness[r] * scale + (isZ ? TINY : SMALL);
      }
      const tau = isZ ? Math.abs(smoothness[0] - smoothness[K - 1]) : 0;
      let total = 0;
      let sum = 0;
      for (let r = 0; r < K; r++) {
        let weight = linear[r];
        if (isZ) weight *= (smoothness[r] + tau) / smoothness[r];
        else if (isShort) {
          for (let other = 0; other < K; other++) if (other !== r) weight *= smoothness[other] * smoothness[other];
        } else weight /= smoothness[r] * smoothness[r];
        total += weight;
        sum += weight * values[r];
      }
      return sum / total;
    },
    () => [Real, K, first, parts, isZ, isShort, factors, linear, steps, squares, SMALL, TINY],
  );
}

/** What smoothness is multiplied by: of fields of a density's or a momentum's kind. */
export interface WenoScales {
  /** 1 / (rho0 u0)^2 */
  readonly density: number;
  /** 1 / (rho0 u0^2)^2 */
  readonly momentum: number;
  /** 1 / (rho0 u0^3)^2 */
  readonly energy: number;
}

/**
 * The flux along axis n, in direction (dx, dy, dz), through a face: that behind the cell which is `from` cells further. `K` is the half-width
 * at this face, at most that of the scheme.
 */
export function wenoFlux({ halfWidth, weights, splitting }: Weno, cell: Pointwise, scales: WenoScales, real: Real) {
  const Real = real.type === "f64" ? Float64Array : Float32Array;
  const W = halfWidth;
  const cells = 2 * W;
  const [reconstruct1, reconstruct2, reconstruct3, reconstruct4] = [1, 2, 3, 4].map((K) =>
    reconstruction(Math.min(K, W), W, weights, real),
  );
  const { stateOf, enthalpyOf, temperatureOf, gammaOf } = cell;
  const isRoe = splitting === "roe";
  const scaleOf = table(
    real,
    isRoe
      ? [scales.density, scales.density, scales.momentum, scales.momentum, scales.density]
      : [scales.density, scales.momentum, scales.momentum, scales.momentum, scales.energy],
  );

  const reconstruct = helper(
    (v: Values, scale: number, K: number): number => {
      if (K === 1) return reconstruct1(v, scale);
      if (K === 2) return reconstruct2(v, scale);
      if (K === 3) return reconstruct3(v, scale);
      return reconstruct4(v, scale);
    },
    () => [reconstruct1, reconstruct2, reconstruct3, reconstruct4],
  );

  /** Multiplies conserved values or their flux by the left eigenvectors; u_n / c, 1 / c and so on are of the Roe average. */
  const project = helper(
    (x: Values, u: Values, n: number, t1: number, t2: number, b1: number, b2: number, inverse: number, out: Values): void => {
      const both = b1 * x[0] - b2 * (u[0] * x[1] + u[1] * x[2] + u[2] * x[3]) + b2 * x[4];
      const odd = (u[n] * x[0] - x[1 + n]) * inverse;
      out[0] = 0.5 * (both + odd);
      out[1] = x[0] - both;
      out[2] = x[1 + t1] - u[t1] * x[0];
      out[3] = x[1 + t2] - u[t2] * x[0];
      out[4] = 0.5 * (both - odd);
    },
    () => [],
  );

  /** Puts the state and the conserved values of the cell at (dx, dy, dz) into `s` and `v`, and the flux of these along axis n into `f`. */
  const readFlux = helper(
    (w: Conserved, T: Temperatures, c: Cell<3>, n: number, dx: number, dy: number, dz: number, s: Values, v: Values, f: Values): void => {
      stateOf(w, T, c, dx, dy, dz, s);
      for (let k = 0; k < CONSERVED; k++) v[k] = w.at(c, dx, dy, dz)[k];
      for (let k = 0; k < CONSERVED; k++) f[k] = s[1 + n] * v[k];
      f[1 + n] += s[4];
      f[4] += s[1 + n] * s[4];
    },
    () => [CONSERVED, stateOf],
  );

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
      // The greatest speeds: of u - c, u and u + c.
      let [slow, middle, fast] = [0, 0, 0];
      for (let m = from + 1 - W; m <= from + W; m++) {
        const s = new Real(STATE);
        stateOf(w, T, c, m * dx, m * dy, m * dz, s);
        const sound = Math.sqrt(gammaOf(s[5]) * s[5]);
        slow = Math.max(slow, Math.abs(s[1 + n] - sound));
        middle = Math.max(middle, Math.abs(s[1 + n]));
        fast = Math.max(fast, Math.abs(s[1 + n] + sound));
      }
      if (!isRoe) {
        slow = Math.max(slow, fast);
        middle = slow;
        fast = slow;
      }

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
      const gamma = gammaOf(mean);
      const inverse = 1 / Math.sqrt(gamma * mean);
      const b2 = (gamma - 1) * inverse * inverse;
      const b1 = mean * inverse * inverse - b2 * (H - mean - 2 * q);
      const t1 = n === 0 ? 1 : 0;
      const t2 = n === 2 ? 1 : 2;

      const ahead = new Real(CONSERVED * cells);
      const behind = new Real(CONSERVED * cells);
      for (let m = 0; m < cells; m++) {
        const [s, v, f] = [new Real(STATE), new Real(CONSERVED), new Real(CONSERVED)];
        const away = from + m + 1 - W;
        readFlux(w, T, c, n, away * dx, away * dy, away * dz, s, v, f);
        const [values, fluxes] = [new Real(CONSERVED), new Real(CONSERVED)];
        if (isRoe) {
          project(v, u, n, t1, t2, b1, b2, inverse, values);
          project(f, u, n, t1, t2, b1, b2, inverse, fluxes);
        }
        for (let k = 0; k < CONSERVED; k++) {
          const speed = k === 0 ? slow : k === 4 ? fast : middle;
          const spread = speed * (isRoe ? values[k] : v[k]);
          const flow = isRoe ? fluxes[k] : f[k];
          ahead[cells * k + m] = 0.5 * (flow + spread);
          behind[cells * k + m] = 0.5 * (flow - spread);
        }
      }

      const found = new Real(CONSERVED);
      for (let k = 0; k < CONSERVED; k++) {
        const [left, right] = [new Real(cells - 1), new Real(cells - 1)];
        for (let j = 0; j < cells - 1; j++) {
          left[j] = ahead[cells * k + j];
          right[j] = behind[cells * k + cells - 1 - j];
        }
        found[k] = reconstruct(left, scaleOf[k], K) + reconstruct(right, scaleOf[k], K);
      }
      if (isRoe) {
        const sum = found[0] + found[1] + found[4];
        flux[0] = sum;
        for (let k = 0; k < 3; k++) flux[1 + k] = u[k] * sum;
        flux[1 + n] += (found[4] - found[0]) / inverse;
        flux[1 + t1] += found[2];
        flux[1 + t2] += found[3];
        flux[4] =
          H * (found[0] + found[4]) +
          (u[n] * (found[4] - found[0])) / inverse +
          (H - mean - mean / (gamma - 1)) * found[1] +
          u[t1] * found[2] +
          u[t2] * found[3];
      } else for (let k = 0; k < CONSERVED; k++) flux[k] = found[k];
    },
    () => [Real, W, cells, CONSERVED, STATE, isRoe, stateOf, enthalpyOf, temperatureOf, gammaOf, readFlux, project, reconstruct, scaleOf],
  );
}
