import assert from "node:assert/strict";
import { test } from "node:test";
import { errorsOf, leastSquares, nearest } from "../../../apps/pic/judgement/least-squares.js";

let seed = 7;
/** Numbers of mean 0 and variance 1, by the sum of twelve. */
function normal(): number {
  let sum = -6;
  for (let n = 0; n < 12; n++) sum += (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  return sum;
}

const times = Array.from({ length: 200 }, (_, n) => n / 10);

test("an unknown that nothing depends on is 0, and of two alike the first is found", () => {
  const rows = times.map((t) => [1, t, 0, 2 * t]);
  const found = leastSquares(
    rows,
    times.map((t) => 3 - 2 * t),
  );
  assert.ok(Math.abs(found[0] - 3) < 1e-9 && Math.abs(found[1] + 2 * found[3] + 2) < 1e-9 && found[2] === 0, `${found}`);
});

test("error bars are the spread of fits to values with noise, alike in neighbours or not", () => {
  for (const memory of [0, 0.9]) {
    const [slopes, errors]: [number[], number[]] = [[], []];
    for (let trial = 0; trial < 200; trial++) {
      let noise = 0;
      const values = times.map((t) => 1 + 0.5 * t + (noise = memory * noise + normal()));
      const rows = times.map((t) => [t, 1]);
      const [slope, offset] = leastSquares(rows, values);
      slopes.push(slope);
      errors.push(
        errorsOf(
          rows,
          times.map((t, n) => slope * t + offset - values[n]),
        )[0],
      );
    }
    const spread = Math.sqrt(slopes.reduce((sum, slope) => sum + (slope - 0.5) ** 2, 0) / slopes.length);
    const bar = errors.reduce((a, b) => a + b) / errors.length;
    assert.ok(bar / spread > 0.75 && bar / spread < 1.3, `memory ${memory}: bars of ${bar}, spread of ${spread}`);
  }
});

test("too few values have no error bars", () => {
  assert.ok(errorsOf([[1, 0]], [0]).every(Number.isNaN));
});

test("a shape is found with its factors", () => {
  const wanted = times.map((t) => 2 * Math.exp(-0.3 * t) + 0.1);
  const found = nearest({ wanted, rows: ([rate]) => times.map((t) => [Math.exp(rate * t), 1]) }, [-1])!;
  assert.ok(Math.abs(found.shape[0] + 0.3) < 1e-9 && Math.abs(found.factors[0] - 2) < 1e-8 && Math.abs(found.factors[1] - 0.1) < 1e-8);
  assert.ok(found.errors.every((error) => error < 1e-8));
});
