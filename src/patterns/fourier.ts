import { LaunchError } from "../base/errors.js";
import { chirpOf, rootOfUnity } from "./roots.js";

/** Real and imaginary parts. */
export interface ComplexArrays {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** Prime factors up to this one are summed up; lengths with a greater one are convolved by Bluestein's algorithm (IEEE Trans. AU 18, 1970). */
const GREATEST_PRIME = 61;

/**
 * The discrete Fourier transform of a host array of any length n, X_k = sum over j of x_j exp(-2 pi i j k / n), in n log n operations: by factors of n
 * (Cooley and Tukey, Math. Comp. 19, 1965).
 * @param im imaginary parts; if omitted, the values are real
 * @throws LaunchError for an empty array, and parts of two lengths
 */
export function fourier(re: ArrayLike<number>, im?: ArrayLike<number>): ComplexArrays {
  const n = re.length;
  if (n === 0) throw new LaunchError("a Fourier transform of an empty array; give at least one value");
  if (im && im.length !== n)
    throw new LaunchError(`a Fourier transform of ${n} real and ${im.length} imaginary parts; give as many of both`);
  const input: ComplexArrays = { re: Float64Array.from(re), im: im ? Float64Array.from(im) : new Float64Array(n) };
  const factors = primesOf(n);
  return (factors.at(-1) ?? 1) > GREATEST_PRIME ? bluestein(input) : byFactors(input, factors);
}

/** The reverse of `fourier`: x_j = sum over k of X_k exp(2 pi i j k / n) / n. */
export function inverseFourier({ re, im }: { readonly re: ArrayLike<number>; readonly im: ArrayLike<number> }): ComplexArrays {
  // Exchanging the parts turns one direction into the other.
  const { re: real, im: imaginary } = fourier(im, re);
  return { re: imaginary.map((v) => v / re.length), im: real.map((v) => v / re.length) };
}

/** Modes 0 to n / 2 of n real values; the others are their conjugates. */
export function realFourier(values: ArrayLike<number>): ComplexArrays {
  const { re, im } = fourier(values);
  const modes = Math.floor(re.length / 2) + 1;
  return { re: re.slice(0, modes), im: im.slice(0, modes) };
}

/**
 * The one-sided power spectrum of n real values: |X_k / n|^2 for modes k from 0 to n / 2, twice that where mode n - k is another one. Its sum is the
 * mean of the squares (Parseval).
 */
export function powerSpectrum(values: ArrayLike<number>): Float64Array {
  const { re, im } = realFourier(values);
  return re.map((r, k) => modeWeight(k, values.length) * (r * r + im[k] * im[k]));
}

/** Weight of |X_k|^2 in the one-sided spectrum of n values. */
export const modeWeight = (k: number, n: number): number => (k === 0 || 2 * k === n ? 1 : 2) / (n * n);

/** In rising order. */
function primesOf(n: number): number[] {
  const primes: number[] = [];
  for (let p = 2; n > 1; p = p * p >= n ? n : p + 1)
    while (n % p === 0) {
      primes.push(p);
      n /= p;
    }
  return primes;
}

/** exp(-2 pi i j / n) for all j. */
function rootsOf(n: number): ComplexArrays {
  const roots = Array.from({ length: n }, (_, j) => rootOfUnity(j, n));
  return { re: Float64Array.from(roots, ([re]) => re), im: Float64Array.from(roots, ([, im]) => im) };
}

function byFactors(input: ComplexArrays, factors: readonly number[]): ComplexArrays {
  const n = input.re.length;
  const roots = rootsOf(n);
  const output: ComplexArrays = { re: new Float64Array(n), im: new Float64Array(n) };
  const most = factors.at(-1) ?? 1;
  const [re, im] = [new Float64Array(most), new Float64Array(most)];
  /** Transforms `length` values of the input, `stride` apart, to the output from `to` on: each of p parts, and then their values p at a time. */
  const transform = (length: number, from: number, stride: number, to: number, depth: number): void => {
    if (length === 1) {
      output.re[to] = input.re[from];
      output.im[to] = input.im[from];
      return;
    }
    const p = factors[depth];
    const part = length / p;
    for (let r = 0; r < p; r++) transform(part, from + r * stride, stride * p, to + r * part, depth + 1);
    for (let k = 0; k < part; k++) {
      for (let r = 0; r < p; r++) {
        const [a, b, root] = [output.re[to + r * part + k], output.im[to + r * part + k], r * k * stride];
        re[r] = a * roots.re[root] - b * roots.im[root];
        im[r] = a * roots.im[root] + b * roots.re[root];
      }
      for (let q = 0; q < p; q++) {
        let [real, imaginary] = [re[0], im[0]];
        for (let r = 1; r < p; r++) {
          const root = ((q * r) % p) * (n / p);
          real += re[r] * roots.re[root] - im[r] * roots.im[root];
          imaginary += re[r] * roots.im[root] + im[r] * roots.re[root];
        }
        output.re[to + q * part + k] = real;
        output.im[to + q * part + k] = imaginary;
      }
    }
  };
  transform(n, 0, 1, 0, 0);
  return output;
}

/** As a convolution with a chirp, j k = (j^2 + k^2 - (k - j)^2) / 2, of a length that is a power of two. */
function bluestein({ re, im }: ComplexArrays): ComplexArrays {
  const n = re.length;
  const chirp = chirpOf(n);
  const size = 2 ** Math.ceil(Math.log2(2 * n - 1));
  const [a, b] = [0, 1].map((): ComplexArrays => ({ re: new Float64Array(size), im: new Float64Array(size) }));
  for (let j = 0; j < n; j++) {
    const [c, s] = chirp[j];
    a.re[j] = re[j] * c - im[j] * s;
    a.im[j] = re[j] * s + im[j] * c;
    b.re[j] = b.re[(size - j) % size] = c;
    b.im[j] = b.im[(size - j) % size] = -s;
  }
  const [x, y] = [fourier(a.re, a.im), fourier(b.re, b.im)];
  const product = inverseFourier({
    re: x.re.map((v, k) => v * y.re[k] - x.im[k] * y.im[k]),
    im: x.re.map((v, k) => v * y.im[k] + x.im[k] * y.re[k]),
  });
  const output: ComplexArrays = { re: new Float64Array(n), im: new Float64Array(n) };
  for (let k = 0; k < n; k++) {
    const [c, s] = chirp[k];
    output.re[k] = product.re[k] * c - product.im[k] * s;
    output.im[k] = product.re[k] * s + product.im[k] * c;
  }
  return output;
}
