import { unreachable } from "../../base/unreachable.js";
import { helper } from "../../kernel/declare/captures.js";
import { table, f32, f64, type Helper } from "../../kernel/declare/params.js";
import { rootOfUnity } from "../roots.js";
import type { Radix } from "./radices.js";

/*
 * Transforms of a few numbers in private arrays, which become registers: element `modePlace(radix, k)` of the result is mode k.
 */

interface PrivateNumbers {
  [index: number]: number;
}

const ROOT_HALF = Math.SQRT1_2;
const COS_16 = Math.cos(Math.PI / 8);
const SIN_16 = Math.sin(Math.PI / 8);

function two(re: PrivateNumbers, im: PrivateNumbers, a: number, b: number): void {
  const [x, y] = [re[a], im[a]];
  re[a] = x + re[b];
  im[a] = y + im[b];
  re[b] = x - re[b];
  im[b] = y - im[b];
}

function four(re: PrivateNumbers, im: PrivateNumbers, a: number, b: number, c: number, d: number): void {
  const [sumRe, sumIm, differenceRe, differenceIm] = [re[a] + re[c], im[a] + im[c], re[a] - re[c], im[a] - im[c]];
  const [otherRe, otherIm, turnedRe, turnedIm] = [re[b] + re[d], im[b] + im[d], re[b] - re[d], im[b] - im[d]];
  re[a] = sumRe + otherRe;
  im[a] = sumIm + otherIm;
  re[b] = differenceRe + turnedIm;
  im[b] = differenceIm - turnedRe;
  re[c] = sumRe - otherRe;
  im[c] = sumIm - otherIm;
  re[d] = differenceRe - turnedIm;
  im[d] = differenceIm + turnedRe;
}

/** Multiplies by c - i s. */
function turn(re: PrivateNumbers, im: PrivateNumbers, k: number, c: number, s: number): void {
  const [x, y] = [re[k], im[k]];
  re[k] = x * c + y * s;
  im[k] = y * c - x * s;
}

/** Multiplies by exp(-2 pi i / 8). */
function turnEighth(re: PrivateNumbers, im: PrivateNumbers, k: number): void {
  const [x, y] = [re[k], im[k]];
  re[k] = (x + y) * ROOT_HALF;
  im[k] = (y - x) * ROOT_HALF;
}
helper(turnEighth, () => [ROOT_HALF]);

/** Multiplies by -i. */
function turnQuarter(re: PrivateNumbers, im: PrivateNumbers, k: number): void {
  const x = re[k];
  re[k] = im[k];
  im[k] = -x;
}

/** Multiplies by exp(-2 pi i 3 / 8). */
function turnThreeEighths(re: PrivateNumbers, im: PrivateNumbers, k: number): void {
  const [x, y] = [re[k], im[k]];
  re[k] = (y - x) * ROOT_HALF;
  im[k] = (x + y) * -ROOT_HALF;
}
helper(turnThreeEighths, () => [ROOT_HALF]);

function transformTwo(re: PrivateNumbers, im: PrivateNumbers): void {
  two(re, im, 0, 1);
}
helper(transformTwo, () => [two]);

function transformFour(re: PrivateNumbers, im: PrivateNumbers): void {
  four(re, im, 0, 1, 2, 3);
}
helper(transformFour, () => [four]);

function transformEight(re: PrivateNumbers, im: PrivateNumbers): void {
  for (let k = 0; k < 4; k++) two(re, im, k, k + 4);
  turnEighth(re, im, 5);
  turnQuarter(re, im, 6);
  turnThreeEighths(re, im, 7);
  four(re, im, 0, 1, 2, 3);
  four(re, im, 4, 5, 6, 7);
}
helper(transformEight, () => [two, four, turnEighth, turnQuarter, turnThreeEighths]);

function transformSixteen(re: PrivateNumbers, im: PrivateNumbers): void {
  for (let k = 0; k < 4; k++) four(re, im, k, k + 4, k + 8, k + 12);
  turn(re, im, 5, COS_16, SIN_16);
  turnEighth(re, im, 6);
  turn(re, im, 7, SIN_16, COS_16);
  turnEighth(re, im, 9);
  turnQuarter(re, im, 10);
  turnThreeEighths(re, im, 11);
  turn(re, im, 13, SIN_16, COS_16);
  turnThreeEighths(re, im, 14);
  turn(re, im, 15, -COS_16, -SIN_16);
  for (let k = 0; k < 4; k++) four(re, im, 4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3);
}
helper(transformSixteen, () => [four, turn, turnEighth, turnQuarter, turnThreeEighths, COS_16, SIN_16]);

/** For odd primes: the sums and differences of values k and `count` - k meet cosines and sines. */
function makeTransformPrime(type: "f64" | "f32", count: number): Helper {
  const roots = table(
    type === "f64" ? f64 : f32,
    Array.from({ length: count }, (_, k) => rootOfUnity(k, count)),
  );
  const Real = type === "f64" ? Float64Array : Float32Array;
  const half = (count - 1) / 2;
  const transform = (re: PrivateNumbers, im: PrivateNumbers): void => {
    const [sumsRe, sumsIm, differencesRe, differencesIm] = [new Real(half), new Real(half), new Real(half), new Real(half)];
    const [firstRe, firstIm] = [re[0], im[0]];
    for (let k = 1; k <= half; k++) {
      sumsRe[k - 1] = re[k] + re[count - k];
      sumsIm[k - 1] = im[k] + im[count - k];
      differencesRe[k - 1] = re[k] - re[count - k];
      differencesIm[k - 1] = im[k] - im[count - k];
    }
    for (let j = 0; j < half; j++) {
      re[0] += sumsRe[j];
      im[0] += sumsIm[j];
    }
    for (let k = 1; k <= half; k++) {
      let [evenRe, evenIm] = [firstRe, firstIm];
      let [oddRe, oddIm] = [0, 0];
      for (let j = 1; j <= half; j++) {
        const place = (j * k) % count;
        evenRe += roots[place][0] * sumsRe[j - 1];
        evenIm += roots[place][0] * sumsIm[j - 1];
        oddRe += roots[place][1] * differencesIm[j - 1];
        oddIm += roots[place][1] * differencesRe[j - 1];
      }
      re[k] = evenRe - oddRe;
      im[k] = evenIm + oddIm;
      re[count - k] = evenRe + oddRe;
      im[count - k] = evenIm - oddIm;
    }
  };
  return helper(transform, () => [roots, Real, half, count]);
}

/** The transform of `radix` numbers. */
export function butterflyOf(type: "f64" | "f32", radix: Radix): Helper {
  switch (radix) {
    case 2:
      return transformTwo;
    case 4:
      return transformFour;
    case 8:
      return transformEight;
    case 16:
      return transformSixteen;
    case 3:
    case 5:
    case 7:
    case 11:
    case 13:
      return makeTransformPrime(type, radix);
    default:
      return unreachable(radix);
  }
}

/** Element of the transformed numbers that holds mode k. */
export function modePlace(radix: number, k: number): number {
  if (radix === 16) return (k & 3) * 4 + (k >> 2);
  if (radix === 8) return (k & 1) * 4 + (k >> 1);
  return k;
}
