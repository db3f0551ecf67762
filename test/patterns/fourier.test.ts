import assert from "node:assert/strict";
import { it } from "node:test";
import { fourier, inverseFourier, powerSpectrum, realFourier } from "../../src/patterns/index.js";
import { noise } from "../domain/sets.js";

const close = (a: ArrayLike<number>, b: ArrayLike<number>, tolerance: number): void => {
  assert.equal(a.length, b.length);
  for (let k = 0; k < a.length; k++) assert.ok(Math.abs(a[k] - b[k]) <= tolerance, `${k}: ${a[k]} instead of ${b[k]}`);
};

/** By its definition. */
function plain(re: readonly number[], im: readonly number[]) {
  const n = re.length;
  const sum = (k: number, of: (j: number, c: number, s: number) => number): number =>
    re.reduce((total, _, j) => {
      const angle = (-2 * Math.PI * ((j * k) % n)) / n;
      return total + of(j, Math.cos(angle), Math.sin(angle));
    }, 0);
  return {
    re: re.map((_, k) => sum(k, (j, c, s) => re[j] * c - im[j] * s)),
    im: re.map((_, k) => sum(k, (j, c, s) => re[j] * s + im[j] * c)),
  };
}

const LENGTHS = [...Array.from({ length: 66 }, (_, n) => n + 1), 67, 96, 122, 134, 160, 210, 243, 320, 361, 503, 625, 1021];

it("transforms of all lengths are what their sums are, and come back", () => {
  for (const n of LENGTHS) {
    const [re, im] = [1, 2].map((key) => Array.from({ length: n }, (_, j) => noise(key, j)));
    const [found, expected] = [fourier(re, im), plain(re, im)];
    close(found.re, expected.re, 1e-14 * n);
    close(found.im, expected.im, 1e-14 * n);
    const back = inverseFourier(found);
    close(back.re, re, 1e-14 * Math.sqrt(n) + 1e-14);
    close(back.im, im, 1e-14 * Math.sqrt(n) + 1e-14);
    const squares = (parts: { re: ArrayLike<number>; im: ArrayLike<number> }) =>
      Array.from(parts.re).reduce((sum, v, k) => sum + v * v + parts.im[k] * parts.im[k], 0);
    assert.ok(Math.abs(squares(found) / n - squares({ re, im })) < 1e-12 * n, "Parseval");
  }
});

it("transforms are those that numpy.fft.fft gives", () => {
  const { re, im } = fourier([1, 2, -1, 3, 0.5, -2, 4]);
  close(
    re,
    [7.5, 2.255110575362877, 4.549995306474939, -7.055105881837816, -7.055105881837816, 4.549995306474939, 2.255110575362877],
    1e-14,
  );
  close(
    im,
    [0.0, -0.4959742950396594, 4.33831826965128, -0.7877208197514132, 0.7877208197514132, -4.33831826965128, 0.4959742950396594],
    1e-14,
  );
});

it("real transforms have half of the modes, and spectra the mean square", () => {
  for (const n of [1, 2, 5, 8, 30, 48, 67]) {
    const values = Array.from({ length: n }, (_, j) => 3 + noise(n, j));
    const [{ re, im }, all] = [realFourier(values), fourier(values)];
    assert.equal(re.length, Math.floor(n / 2) + 1);
    close(re, all.re.slice(0, re.length), 0);
    close(im, all.im.slice(0, re.length), 0);
    const total = powerSpectrum(values).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(total - values.reduce((sum, v) => sum + v * v, 0) / n) < 1e-13);
  }
  // Of waves of amplitude a, a^2 / 2 in their own mode.
  const n = 60;
  const wave = Array.from({ length: n }, (_, j) => 2 + 3 * Math.cos((2 * Math.PI * 7 * j) / n + 0.4) + 0.5 * (-1) ** j);
  const expected = Array<number>(31).fill(0);
  [expected[0], expected[7], expected[30]] = [4, 4.5, 0.25];
  close(powerSpectrum(wave), expected, 1e-14);
});

it("nothing and parts of two lengths are refused", () => {
  assert.throws(() => fourier([]), /Fourier transform of an empty array/);
  assert.throws(() => fourier([1, 2], [1]), /2 real and 1 imaginary parts/);
});
