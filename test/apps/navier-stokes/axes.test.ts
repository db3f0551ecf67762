import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cellsOf,
  channelAxis,
  innerPoints,
  layerAxis,
  placeOf,
  shockAxis,
  uniform,
  type Axis,
} from "../../../apps/navier-stokes/equations/axes.js";
import { firstDerivative } from "./first-derivative.js";
import { FIRST_DERIVATIVE, ORDERS, SECOND_DERIVATIVE } from "../../../apps/navier-stokes/equations/schemes.js";

const stretching = { dyPlus: 0.7, reTau: 180, jb: 32, smoothing: 50 };

const near = (value: number, expected: number, tolerance = 1e-12) =>
  assert.ok(Math.abs(value - expected) <= tolerance, `${value} is not ${expected}`);

const increases = ({ points }: Axis) => points.every((x, n) => n === 0 || x > points[n - 1]);

test("differences of order p are exact for polynomials of degree p", () => {
  for (const order of ORDERS)
    for (let power = 0; power <= order; power++) {
      const values = Float64Array.from({ length: 11 }, (_, n) => ((n - 4) / 2) ** power);
      near(firstDerivative(values, 5, 1, order)[0], (power * 0.5 ** (power - 1)) / 2, 1e-9);
      const [own, ...others] = SECOND_DERIVATIVE[order];
      const second = others.reduce((sum, d, l) => sum + d * (values[5 + l + 1] + values[5 - l - 1]), own * values[5]);
      near(second, (power * (power - 1) * 0.5 ** (power - 2)) / 4, 1e-9);
      assert.equal(FIRST_DERIVATIVE[order].length, order / 2);
    }
});

test("a uniform axis begins at 0, and ends one cell before its length where it is periodic", () => {
  const periodic = uniform(8, 4, 3, { periodic: true });
  assert.deepEqual([...innerPoints(periodic)], [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5]);
  assert.deepEqual([placeOf(periodic, -3), placeOf(periodic, 10)], [-1.5, 5]);
  const open = uniform(5, 4, 1);
  assert.deepEqual([...open.points], [-1, 0, 1, 2, 3, 4, 5]);
  assert.equal(cellsOf(open), 5);
});

test("a channel's points lie midway between faces from wall to wall, mirrored, and are finest at the walls", () => {
  const axis = channelAxis(36, 4, stretching);
  assert.ok(increases(axis));
  assert.equal(axis.faces!.length, 37);
  assert.deepEqual(
    [axis.faces![0], axis.faces![18], axis.faces![36]].map((y) => y + 0),
    [-1, 0, 1],
  );
  for (let l = 1; l <= 4; l++) {
    near(placeOf(axis, -l) + placeOf(axis, l - 1), -2);
    near(placeOf(axis, 35 + l) + placeOf(axis, 36 - l), 2);
  }
  for (let j = 0; j < 36; j++) near(placeOf(axis, j), -placeOf(axis, 35 - j));
  const sizes = Array.from({ length: 18 }, (_, j) => axis.faces![j + 1] - axis.faces![j]);
  assert.ok(sizes.every((size, j) => j === 0 || size > sizes[j - 1]));
});

test("a layer's faces follow the law to the wall's length and end at the axis' length", () => {
  const wall = { cells: 40, length: 2.5 };
  const unsmoothed = layerAxis(64, 12, 3, wall, { ...stretching, dyPlus: 0.8, reTau: 200, smoothing: 0 });
  near(unsmoothed.faces![40], 2.5);
  near(unsmoothed.faces![64], 12, 1e-5);
  const ratios = Array.from({ length: 22 }, (_, j) => {
    const [a, b, c] = unsmoothed.faces!.subarray(41 + j, 44 + j);
    return (c - b) / (b - a);
  });
  ratios.forEach((ratio) => near(ratio, ratios[0], 1e-9));
  const smooth = layerAxis(64, 12, 3, wall, { ...stretching, dyPlus: 0.8, reTau: 200 });
  assert.ok(increases(smooth));
  for (let l = 1; l <= 3; l++) near(placeOf(smooth, -l), -placeOf(smooth, l - 1));
});

test("a shock's axis is uniform beyond the wall's layer", () => {
  const axis = shockAxis(64, 3, { cells: 40, length: 2.5 }, { ...stretching, reTau: 200, smoothing: 0 });
  assert.ok(increases(axis));
  const { points } = axis;
  const sizes = [45, 50, 60].map((n) => points[n + 1] - points[n]);
  sizes.forEach((size) => near(size, sizes[0]));
});
