import assert from "node:assert/strict";
import { test } from "node:test";
import { estimate, mean, median, ratio, standardDeviation } from "../../src/portability/statistics.js";

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
