import { bool, f64, fixed, helper, i32, kernel, table, u32, view } from "isoform";
import { sobol, SOBOL_DIRECTIONS } from "isoform/patterns";
import { pieceAt } from "../mesh/splines.js";

/*
 * Particles made on the device from Sobol's quasi-random points. What is needed beside +, -, *, / and sqrt is built from these, so that every
 * device makes the same bits.
 */

type Coefficients = Parameters<typeof pieceAt>[0];

/** ln u of a number in (0, 1] that is no less than 2^-40, to some units in the last place. */
export function logarithm(u: number): number {
  let r = u;
  let halvings = 0;
  for (let n = 0; n < 40; n++)
    if (r < 0.7071067811865476) {
      r *= 2;
      halvings += 1;
    }
  const s = (r - 1) / (r + 1);
  let series = 0;
  for (let n = 11; n >= 0; n--) series = series * (s * s) + 1 / +(2 * n + 1);
  return 2 * s * series - halvings * 0.6931471805599453;
}

/** cos(2 pi turns), to some units in the last place of 1. */
export function cosineOfTurns(turns: number): number {
  const part = Math.abs(turns - Math.floor(turns + 0.5));
  const reflected = part > 0.25;
  const eighth = reflected ? 0.5 - part : part;
  const isSine = eighth > 0.125;
  const x = 6.283185307179586 * (isSine ? 0.25 - eighth : eighth);
  let cosine = 1;
  let sine = 1;
  for (let n = 9; n >= 1; n--) {
    cosine = 1 - (x * x * cosine) / (2 * n * (2 * n - 1));
    sine = 1 - (x * x * sine) / (2 * n * (2 * n + 1));
  }
  const value = isSine ? x * sine : cosine;
  return reflected ? -value : value;
}

/** Numerators and denominators of AS 241 in the middle and in the tails, highest power first. */
export const NORMAL = [
  [
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513, 133.14166789178438,
    3.3871328727963665,
  ],
  [
    5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579, 42.31333070160091,
    1.0,
  ],
  [
    0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045, 5.769497221460691,
    4.630337846156546, 1.4234371107496835,
  ],
  [
    1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851, 1.6763848301838038,
    2.053191626637759, 1.0,
  ],
] as const;

/**
 * The inverse of the standard normal distribution's cumulative function, for u from 2^-32 to 1 - 2^-32 to a relative 1e-15 or so: algorithm
 * AS 241 of Wichura, Applied Statistics 37 (1988), whose third range begins beyond these.
 */
export function inverseNormal(u: number, coefficients: Coefficients): number {
  const q = u - 0.5;
  if (Math.abs(q) <= 0.425) {
    const r = 0.180625 - q * q;
    return (q * pieceAt(coefficients, 0, r)) / pieceAt(coefficients, 1, r);
  }
  const r = Math.sqrt(-logarithm(q < 0 ? u : 1 - u)) - 1.6;
  const value = pieceAt(coefficients, 2, r) / pieceAt(coefficients, 3, r);
  return q < 0 ? -value : value;
}
helper(inverseNormal, () => [pieceAt, logarithm]);

const directions = table(u32, SOBOL_DIRECTIONS);
const normal = table(f64, NORMAL);

/**
 * One particle: x uniform, v of one of some beams with normal velocities, w = `each` (1 + amplitude cos(2 pi turns x_1 / length_1)). Symmetric
 * loading makes groups of 2^(dimension + velocities) from one point, mirrored in every coordinate.
 */
export const load = kernel(
  "load",
  {
    x1: view(f64),
    x2: view(f64),
    x3: view(f64),
    v1: view(f64),
    v2: view(f64),
    v3: view(f64),
    w: view(f64),
    length1: f64,
    length2: f64,
    length3: f64,
    /** The number of particle 0 here. */
    first: i32,
    dimension: fixed(i32),
    velocities: fixed(i32),
    symmetric: fixed(bool),
    /** Share of the particles in this beam and those before it. */
    upTo: view(f64),
    drift: view(f64, 2),
    sigma: view(f64, 2),
    each: f64,
    amplitude: f64,
    turns: f64,
  },
  (
    {
      x1,
      x2,
      x3,
      v1,
      v2,
      v3,
      w,
      length1,
      length2,
      length3,
      first,
      dimension,
      velocities,
      symmetric,
      upTo,
      drift,
      sigma,
      each,
      amplitude,
      turns,
    },
    i,
  ) => {
    const coordinates = dimension + velocities;
    const number = first + i;
    const point = symmetric ? number >> coordinates : number;
    let mirrors = symmetric ? number & ((1 << coordinates) - 1) : 0;
    const choice = sobol(directions, point + 1, coordinates);
    let beam = 0;
    for (let m = 0; m + 1 < upTo.length; m++) if (choice >= upTo[m]) beam = m + 1;
    for (let k = 0; k < dimension; k++) {
      const u = sobol(directions, point + 1, k);
      const share = (mirrors & 1) === 1 ? 1 - u : u;
      mirrors >>= 1;
      if (k === 0) {
        x1[i] = length1 * share;
        w[i] = each * (1 + amplitude * cosineOfTurns(turns * share));
      }
      if (k === 1) x2[i] = length2 * share;
      if (k === 2) x3[i] = length3 * share;
    }
    for (let k = 0; k < velocities; k++) {
      const deviation = inverseNormal(sobol(directions, point + 1, dimension + k), normal);
      const v = drift[beam][k] + sigma[beam][k] * ((mirrors & 1) === 1 ? -deviation : deviation);
      mirrors >>= 1;
      if (k === 0) v1[i] = v;
      if (k === 1) v2[i] = v;
      if (k === 2) v3[i] = v;
    }
  },
  () => [directions, normal, sobol, cosineOfTurns, inverseNormal],
);

/** v -= mean */
export const shift = kernel("shift", { mean: f64, v: view(f64) }, ({ mean, v }, i) => {
  v[i] -= mean;
});
