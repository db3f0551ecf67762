import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f32, f64, i32, kernel, open, range, view } from "../../../src/index.js";
import { groupsUnderConditions } from "../../../src/ir/analysis/grouped-loads.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";

/** Pairs of elements under conditions of their own, which GCC 12 reads by one mask of AVX2 or AVX-512. */
const pairs = (type: typeof f64 | typeof f32) =>
  kernel("pairs", { groups: i32, x: view(type), y: view(type) }, ({ groups, x, y }, j) => {
    let a = 0;
    let b = 0;
    if (j < groups) {
      a = x[4 * j];
      b = x[4 * j + 1];
    }
    if (j > 0 && j - 1 < groups) {
      a += x[4 * j + 2];
      b += x[4 * j + 3];
    }
    y[2 * j] = a;
    y[2 * j + 1] = b;
  });

/** The same of neighbouring groups, in a loop around. */
const knots = kernel("knots", { groups: i32, x: view(f64), y: view(f64, 2) }, ({ groups, x, y }, i, j) => {
  let [a, b] = [0, 0];
  for (let k = 0; k < 4; k++) {
    const group = j - k;
    if (group >= 0 && group < groups) {
      a += x[group * 24 + (4 * i + k) * 2];
      b += x[group * 24 + (4 * i + k) * 2 + 1];
    }
  }
  y[i][2 * j] = a;
  y[i][2 * j + 1] = b;
});

const stencil = kernel("stencil", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
  let a = x[i];
  if (i > 0) a += x[i - 1] + x[i + 1];
  if (i > 1) a += x[i - 2];
  y[i] = a;
});

const found = (of: unknown) => groupsUnderConditions(compileKernel(of as Kernel).ir);

it("pairs under several conditions are found, stencils are not", () => {
  assert.deepEqual([pairs(f64), pairs(f32), knots, stencil].map(found), [true, true, true, false]);
});

describe("pairs of elements under several conditions on native", () => {
  for (const precision of ["strict", "fast"] as const)
    it(`are those of js in ${precision} mode`, async () => {
      const outcomes = [];
      for (const name of ["js", "native"] as const) {
        const device = await open(name, { threads: 1 });
        const values = (count: number) => Array.from({ length: count }, (_, n) => ((n * 37) % 101) * 0.5);
        for (const type of [f64, f32]) {
          const [x, y] = [device.from(type, values(4 * 64)), device.array(type, 2 * 64)];
          await device.run(pairs(type), { groups: 61, x, y }, range(64), { precision });
          outcomes.push(Array.from(await device.queue.read(y)));
        }
        const [x, y] = [device.from(f64, values(24 * 40)), device.array(f64, [3, 80])];
        await device.run(knots, { groups: 37, x, y }, range(3, 40), { precision });
        outcomes.push(Array.from(await device.queue.read(y)));
        await device.close();
      }
      assert.deepEqual(outcomes.slice(3), outcomes.slice(0, 3));
    });
});
