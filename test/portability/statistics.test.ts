import assert from "node:assert/strict";
import { test } from "node:test";
import { estimate, mean, median, ratio, standardDeviation, uncertainty } from "../../src/portability/statistics.js";

test("mean, median and standard deviation (ddof = 1) of known samples", () => {
  const samples = [2, 4, 4, 4, 5, 5, 7, 9];
  assert.equal(mean(samples), 5);
  assert.equal(median(samples), 4.5);
  assert.equal(median([3, 1, 2]), 2);
  assert.ok(Math.abs(standardDeviation(samples) - Math.sqrt(32 / 7)) < 1e-15);
});

test("one sample has a value and no sigma", () => {
  assert.deepEqual(estimate([3]), { value: 3, sigma: NaN });
});

test("a ratio carries the relative errors of both in quadrature", () => {
  const { value, sigma } = ratio({ value: 3, sigma: 0.09 }, { value: 4, sigma: 0.16 });
  assert.equal(value, 0.75);
  assert.ok(Math.abs(sigma - 0.75 * 0.05) < 1e-15);
});

test("the confidence interval of a mean is Student's", () => {
  // Three samples of standard deviation 1: t(0.975, 2) / sqrt(3).
  assert.ok(Math.abs(uncertainty([1, 2, 3]) - 4.303 / Math.sqrt(3)) < 1e-12);
  // Ten, of the widest interval in the table, and more.
  const alternating = (n: number) => Array.from({ length: n }, (_, k) => k % 2);
  assert.ok(Math.abs(uncertainty(alternating(10)) - (2.262 * Math.sqrt(10 / 36)) / Math.sqrt(10)) < 1e-12);
  assert.ok(uncertainty(alternating(40)) < uncertainty(alternating(20)));
  assert.deepEqual([uncertainty([5, 5, 5]), uncertainty([5])], [0, Infinity]);
});
