import { kernel } from "../../kernel/declare/kernel.js";
import { bool, f32, f64, fixed, i32, view } from "../../kernel/declare/params.js";
import { butterflyOf, modePlace } from "./butterflies.js";
import type { Radix } from "./radices.js";

/** Types of real and imaginary parts. */
export type PartType = "f64" | "f32";

/** To TypeScript both types look like this one. */
const TOKENS = { f64, f32: f32 as unknown as typeof f64 };
const ARRAYS = { f64: Float64Array, f32: Float32Array as unknown as Float64ArrayConstructor };

const rows = (type: PartType) => {
  const part = view(TOKENS[type], 2);
  return { fromRe: part, fromIm: part, toRe: part, toIm: part };
};
/** Batch, row, and what lies side by side in a row. */
const planes = (type: PartType) => {
  const part = view(TOKENS[type], 3);
  return { fromRe: part, fromIm: part, toRe: part, toIm: part };
};
/** Roots of unity, or other complex constants, a row each. */
const constants = (type: PartType) => view(TOKENS[type], 2);
const scaling = (type: PartType) => ({ scale: TOKENS[type], scaled: fixed(bool) });
const passing = (type: PartType, radix: Radix) => ({
  ...scaling(type),
  m: i32,
  roots: constants(type),
  radix: fixed(i32),
  last: fixed(bool),
  modePlace,
  transform: butterflyOf(type, radix),
  Real: ARRAYS[type],
});

/**
 * A pass of Stockham's transform: the numbers p, p + m, p + 2 m, ... become modes, which are turned by the roots of p and lie side by side. Here
 * the rows have one number each, so the powers of a root are computed: elements that are neighbours have roots that are.
 */
const makeFirstPass = (type: PartType, radix: Radix) =>
  kernel(
    "fftFirst",
    { ...rows(type), ...passing(type, radix) },
    ({ fromRe, fromIm, toRe, toIm, scale, scaled, m, roots, radix, last, modePlace, transform, Real }, b, p) => {
      const [re, im, cosines, sines] = [new Real(radix), new Real(radix), new Real(radix), new Real(radix)];
      for (let k = 0; k < radix; k++) {
        re[k] = fromRe[b][p + m * k];
        im[k] = fromIm[b][p + m * k];
      }
      transform(re, im);
      if (!last) {
        cosines[1] = roots[0][p];
        sines[1] = roots[1][p];
        for (let k = 2; k < radix; k++) {
          const [g, h] = [k >> 1, k - (k >> 1)];
          cosines[k] = cosines[g] * cosines[h] - sines[g] * sines[h];
          sines[k] = cosines[g] * sines[h] + sines[g] * cosines[h];
        }
      }
      for (let k = 0; k < radix; k++) {
        let [x, y] = [re[modePlace(radix, k)], im[modePlace(radix, k)]];
        if (!last && k > 0) {
          const turned = x * cosines[k] - y * sines[k];
          y = x * sines[k] + y * cosines[k];
          x = turned;
        }
        toRe[b][radix * p + k] = scaled ? x * scale : x;
        toIm[b][radix * p + k] = scaled ? y * scale : y;
      }
    },
  );

/** The same of rows, whose elements share roots: all powers of them are given. */
const makePass = (type: PartType, radix: Radix) =>
  kernel(
    "fftPass",
    { ...planes(type), ...passing(type, radix) },
    ({ fromRe, fromIm, toRe, toIm, scale, scaled, m, roots, radix, last, modePlace, transform, Real }, b, p, q) => {
      const [re, im] = [new Real(radix), new Real(radix)];
      for (let k = 0; k < radix; k++) {
        re[k] = fromRe[b][p + m * k][q];
        im[k] = fromIm[b][p + m * k][q];
      }
      transform(re, im);
      for (let k = 0; k < radix; k++) {
        let [x, y] = [re[modePlace(radix, k)], im[modePlace(radix, k)]];
        if (!last && k > 0) {
          const turned = x * roots[p][2 * k] - y * roots[p][2 * k + 1];
          y = x * roots[p][2 * k + 1] + y * roots[p][2 * k];
          x = turned;
        }
        toRe[b][radix * p + k][q] = scaled ? x * scale : x;
        toIm[b][radix * p + k][q] = scaled ? y * scale : y;
      }
    },
  );

/** Products with a constant for each row, from the first `count` rows on; rows after those become 0. */
const makeMultiply = (type: PartType) =>
  kernel(
    "fftMultiply",
    { ...planes(type), ...scaling(type), factors: constants(type), count: i32 },
    ({ fromRe, fromIm, toRe, toIm, scale, scaled, factors, count }, b, p, q) => {
      let [x, y] = [0, 0];
      if (p < count) {
        x = fromRe[b][p][q] * factors[p][0] - fromIm[b][p][q] * factors[p][1];
        y = fromRe[b][p][q] * factors[p][1] + fromIm[b][p][q] * factors[p][0];
      }
      toRe[b][p][q] = scaled ? x * scale : x;
      toIm[b][p][q] = scaled ? y * scale : y;
    },
  );

/** The modes 0 to h of 2 h real numbers, from the modes of h complex ones, whose parts are the even and the odd numbers. */
const makeSplit = (type: PartType) =>
  kernel("fftSplit", { ...planes(type), roots: constants(type), h: i32 }, ({ fromRe, fromIm, toRe, toIm, roots, h }, b, p, q) => {
    const [mode, mirror] = [p < h ? p : 0, p > 0 ? h - p : 0];
    const [a, c] = [fromRe[b][mode][q], fromRe[b][mirror][q]];
    const [d, e] = [fromIm[b][mode][q], fromIm[b][mirror][q]];
    const [oddRe, oddIm] = [0.5 * (d + e), 0.5 * (c - a)];
    toRe[b][p][q] = 0.5 * (a + c) + (oddRe * roots[p][0] - oddIm * roots[p][1]);
    toIm[b][p][q] = 0.5 * (d - e) + (oddRe * roots[p][1] + oddIm * roots[p][0]);
  });

/** The reverse of `fftSplit`. The imaginary parts of modes 0 and h do not count. */
const makeJoin = (type: PartType) =>
  kernel("fftJoin", { ...planes(type), roots: constants(type), h: i32 }, ({ fromRe, fromIm, toRe, toIm, roots, h }, b, p, q) => {
    const [a, c] = [fromRe[b][p][q], fromRe[b][h - p][q]];
    let [sum, difference] = [fromIm[b][p][q] + fromIm[b][h - p][q], fromIm[b][p][q] - fromIm[b][h - p][q]];
    if (p === 0) {
      sum = 0;
      difference = 0;
    }
    const [evenRe, evenIm] = [0.5 * (a + c), 0.5 * difference];
    const [dRe, dIm] = [0.5 * (a - c), 0.5 * sum];
    toRe[b][p][q] = evenRe - (dIm * roots[p][0] - dRe * roots[p][1]);
    toIm[b][p][q] = evenIm + (dRe * roots[p][0] + dIm * roots[p][1]);
  });

/** Copies the first rows. */
const makeTake = (type: PartType) =>
  kernel("fftTake", planes(type), ({ fromRe, fromIm, toRe, toIm }, b, p, q) => {
    toRe[b][p][q] = fromRe[b][p][q];
    toIm[b][p][q] = fromIm[b][p][q];
  });

/** All n modes of real numbers, whose upper half mirrors the lower one. The imaginary part of mode 0 does not count. */
const makeMirror = (type: PartType) =>
  kernel("fftMirror", { ...planes(type), n: i32, half: i32 }, ({ fromRe, fromIm, toRe, toIm, n, half }, b, p, q) => {
    const mode = p < half ? p : n - p;
    toRe[b][p][q] = fromRe[b][mode][q];
    const y = fromIm[b][mode][q];
    toIm[b][p][q] = p === 0 ? 0 : p < half ? y : -y;
  });

/** A kernel for each type and radix, made when it is first asked for. */
function made<K>(make: (type: PartType, radix: Radix) => K): (type: PartType, radix: Radix) => K {
  const kernels = new Map<string, K>();
  return (type, radix) => {
    const key = `${type} ${radix}`;
    if (!kernels.has(key)) kernels.set(key, make(type, radix));
    return kernels.get(key)!;
  };
}
export const firstPass = made(makeFirstPass);
export const laterPass = made(makePass);

const both = <K>(make: (type: PartType) => K): Record<PartType, K> => ({ f64: make("f64"), f32: make("f32") });
export const multiplyRows = both(makeMultiply);
export const splitModes = both(makeSplit);
export const joinModes = both(makeJoin);
export const takeRows = both(makeTake);
export const mirrorModes = both(makeMirror);
