import assert from "node:assert/strict";
import { after, test } from "node:test";
import { devices } from "isoform/set";
import {
  coefficients,
  cylinder,
  frequency,
  schillerNaumann,
  sphere,
  streetOf,
  wayToSphere,
  williamson,
} from "../../../apps/lbm/obstacle.js";
import { Simulation } from "../../../apps/lbm/simulation.js";

const set = await devices("wasm*2");
after(() => set.close());

test("the frequency of a signal is found between samples, whatever its mean", () => {
  const signal = Array.from({ length: 500 }, (_, n) => 3 + Math.sin(0.123 * n + 1));
  assert.ok(Math.abs(frequency(signal)! - 0.123 / (2 * Math.PI)) < 1e-4);
  assert.equal(frequency([1, 1, 1]), undefined);
  assert.equal(frequency([0, 1, 2, 3]), undefined);
});

test("a street is judged by the end of the samples, its frequency by diameter and speed", () => {
  const samples = Array.from({ length: 1000 }, (_, n) => ({ drag: n < 500 ? 9 : 1.5, lift: (n < 500 ? 5 : 0.25) * Math.sin(n / 10) }));
  const { drag, lift, strouhal } = streetOf(samples, 4, { reynolds: 100, size: 20, speed: 0.05 });
  assert.equal(drag, 1.5);
  assert.ok(lift <= 0.25 && lift > 0.249);
  assert.ok(Math.abs(strouhal! - (0.1 / (2 * Math.PI) / 4) * 400) < 1e-3);
});

test("a steady wake has no frequency, though the start still swings in it", () => {
  const samples = Array.from({ length: 1000 }, (_, n) => ({ drag: 1.6, lift: 1e-4 * Math.sin(n / 10) }));
  assert.equal(streetOf(samples, 4, { reynolds: 40, size: 20 }).strouhal, undefined);
  assert.ok(streetOf(samples, 4, { reynolds: 50, size: 20 }).strouhal);
});

test("published correlations", () => {
  for (const outside of [40, 200]) assert.equal(williamson(outside), undefined);
  assert.ok(Math.abs(williamson(100)! - 0.1643) < 1e-4);
  assert.ok(Math.abs(schillerNaumann(100) - 1.0917) < 1e-3);
  assert.ok(Math.abs(schillerNaumann(1) - 27.6) < 0.01);
});

test("force coefficients are by the dynamic pressure and the area across the stream", () => {
  const options = { reynolds: 1, size: 8, speed: 0.25 };
  assert.deepEqual(coefficients([0.25, -0.5], options, 2), { drag: 1, lift: -2 });
  assert.ok(Math.abs(coefficients([0.5 * Math.PI, 0], options, 3).drag - 1) < 1e-15);
});

for (const [name, flow, dimension] of [
  ["cylinder", cylinder, 2],
  ["sphere", sphere, 3],
] as const)
  test(`a stream drags a ${name} along, in a dense and a sparse domain alike`, async () => {
    const options = { reynolds: 20, size: dimension === 2 ? 6 : 4 };
    const drags: number[] = [];
    for (const grid of ["dense", "sparse"] as const) {
      const simulation = await Simulation.create(set, flow(options), { grid, precision: "strict", collision: "bgk" });
      await simulation.run(dimension === 2 ? 600 : 60);
      drags.push(coefficients(await simulation.force(), options, dimension).drag);
      simulation.free();
    }
    assert.equal(drags[0], drags[1]);
    assert.ok(drags[0] > 1 && drags[0] < 5, `${drags[0]}`);
  });

test("a body of too few cells is refused", () => {
  assert.throws(() => sphere({ reynolds: 10, size: 3 }), /a body of 3 cells in diameter is too small: it needs at least 4/);
});

test("a box that a body does not fit, and walls that nobody can place, are refused", async () => {
  const options = { reynolds: 10, size: 4 };
  assert.throws(() => cylinder({ ...options, box: { before: 2, behind: 2, across: 1 } }), /a box of 2, 2, 1 diameters: .* --box 10,20,24/);
  assert.deepEqual(cylinder({ ...options, box: { before: 2, behind: 3.5, across: 4 } }).extents, [22, 16]);
  const { wallAt: _, ...flow } = cylinder(options);
  await assert.rejects(
    Simulation.create(set, flow, { wall: "interpolated" }),
    /a flow without "wallAt": give it that function, or choose the wall "halfway"/,
  );
  const beyond = { ...flow, wallAt: () => 1.5 };
  await assert.rejects(
    Simulation.create(set, beyond, { wall: "interpolated" }),
    /lies at 1.5 of the way: "wallAt" has to return a share from 0 to 1/,
  );
  await assert.rejects(
    Simulation.create(await devices("js"), { ...flow, wallAt: () => 0.5 }, { wall: "interpolated", pattern: "aa" }),
    /the pattern "aa" has its walls half-way/,
  );
});

test("the way to a sphere ends on it", () => {
  const [body, radius] = [[3.2, -1.1, 0.4], 2.3] as const;
  for (const cell of [
    [1, -2, 2],
    [5, 0, -1],
    [6, -1, 0],
  ])
    for (const e of [
      [1, 0, 0],
      [-1, 0, 0],
      [1, 1, 0],
      [-1, 0, 1],
      [0, -1, 1],
    ]) {
      const to = Math.hypot(...cell.map((at, k) => at + e[k] - body[k]));
      if (Math.hypot(...cell.map((at, k) => at - body[k])) < radius || to >= radius) continue;
      const share = wayToSphere(cell, e, body, radius);
      const place = cell.map((at, k) => at + share * e[k] - body[k]);
      assert.ok(share >= 0 && share <= 1 && Math.abs(Math.hypot(...place) - radius) < 1e-12, `${cell}, ${e}: ${share}`);
    }
});
