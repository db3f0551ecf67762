import assert from "node:assert/strict";
import test from "node:test";
import { VectorLoops } from "../../../src/emit/c/vector.js";
import { f64, fixed, i32, kernel, teamKernel, view } from "../../../src/index.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";

function loopsOf(k: unknown, strides: Record<string, readonly number[]>) {
  const { ir } = compileKernel(k as Kernel, {});
  const loops = new VectorLoops(ir, (name) => strides[name].map(String));
  const rank = ir.policy.kind === "range" ? ir.policy.rank : 1;
  return {
    pays: loops.pays(ir.body, { index: rank - 1 }),
    order: loops.order(ir.body, rank, (name) => strides[name]),
  };
}

const scaled = kernel("scaled", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
  y[i] = 2 * x[i + 1];
});
const gathered = kernel("gathered", { x: view(f64), at: view(i32), y: view(f64) }, ({ x, at, y }, i) => {
  y[i] = x[at[i]];
});
const looped = kernel("looped", { x: view(f64, 2), y: view(f64) }, ({ x, y }, i) => {
  let sum = 0;
  for (let k = 0; k < x[0].length; k++) sum += x[k][i];
  y[i] = sum;
});
const box = kernel("box", { x: view(f64, 3), y: view(f64, 3) }, ({ x, y }, i, j, k) => {
  y[i][j][k] = x[i][j][k] + x[i][j - 1][k];
});

const branching = kernel("branching", { x: view(f64), y: view(f64), turns: fixed(i32) }, ({ x, y, turns }, i) => {
  let sum = 0;
  if (x[i] > 0) for (let k = 0; k < turns; k++) for (let m = 0; m < 30; m++) sum += (k + 0.5) * (sum + m * x[i]);
  y[i] = sum;
});

test("vectors pay where all accesses are contiguous or the same", () => {
  assert.equal(loopsOf(scaled, { x: [1], y: [1] }).pays, true);
  assert.equal(loopsOf(scaled, { x: [5], y: [1] }).pays, false);
  assert.equal(loopsOf(gathered, { x: [1], at: [1], y: [1] }).pays, false);
  assert.equal(loopsOf(looped, { x: [100, 1], y: [1] }).pays, false);
});

const rows = teamKernel("rows", { x: view(f64, 2), y: view(f64, 2), step: fixed(i32) }, ({ x, y, step }, team) => {
  const kept = team.scratch("f64", 64);
  team.range(8, (n) => {
    kept[step * n] = x[team.index][n];
    y[team.index][n] = kept[step * n];
  });
});

test("vectors pay where members keep numbers beside each other in scratch", () => {
  for (const [step, pays] of [
    [1, true],
    [2, false],
  ] as const) {
    const { ir } = compileKernel(rows as Kernel, { step });
    const shared = ir.body.find((stmt) => stmt.kind === "teamFor")!;
    assert.equal(new VectorLoops(ir, () => ["8", "1"]).pays(shared.body, { local: shared.name }), pays);
  }
});

test("vectors do not pay where much would run under masks", () => {
  for (const [turns, pays] of [
    [2, true],
    [25, false],
  ] as const) {
    const { ir } = compileKernel(branching as Kernel, { turns });
    assert.equal(new VectorLoops(ir, () => ["1"]).pays(ir.body, { index: 0 }), pays);
  }
});

test("loops nest by the strides, as written where they are equal", () => {
  assert.deepEqual(loopsOf(box, { x: [600, 20, 1], y: [600, 20, 1] }).order, [0, 1, 2]);
  assert.deepEqual(loopsOf(box, { x: [1, 30, 600], y: [1, 30, 600] }).order, [2, 1, 0]);
  assert.deepEqual(loopsOf(box, { x: [600, 1, 20], y: [600, 1, 20] }).order, [0, 2, 1]);
  assert.deepEqual(loopsOf(box, { x: [400, 20, 1], y: [1, 20, 400] }).order, [0, 1, 2]);
});
