import assert from "node:assert/strict";
import { test } from "node:test";
import { f64, i32, kernel, teamKernel, view } from "isoform";
import { turnsOf } from "../../../src/ir/analysis/turns.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";

const turns = (of: Kernel) => turnsOf(compileKernel(of).ir.body);

test("without loops there are no turns", () => {
  const plain = kernel("plain", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
    y[i] = x[i] + y[i];
  });
  assert.deepEqual(turns(plain), { loads: 0, kept: 0 });
});

test("loads of a turn, branches included, inner loops left out; sums that outlive it", () => {
  const loops = kernel("loops", { x: view(f64), n: i32, y: view(f64) }, ({ x, n, y }, i) => {
    let [sum, most] = [0, 0];
    for (let k = 0; k < n; k++) {
      const own = x[k] + x[k + n];
      if (own > 1) sum += x[i] * own;
      for (let l = 0; l < n; l++) most = Math.max(most, x[l]);
    }
    y[i] = sum + most;
  });
  assert.deepEqual(turns(loops), { loads: 3, kept: 2 });
});

test("members of teams take turns, and private arrays that stay in memory count with all of their elements", () => {
  const rows = teamKernel("rows", { x: view(f64, 2), y: view(f64) }, ({ x, y }, team) => {
    y[team.index] = team.sum(x[0].length, (k) => {
      const seen = new Float64Array(20);
      for (let m = 0; m < 100; m++) seen[(k + m) % 20] += x[team.index][k] * x[team.index][m];
      return seen[k % 20];
    });
  });
  assert.deepEqual(turns(rows), { loads: 2, kept: 20 });
});
