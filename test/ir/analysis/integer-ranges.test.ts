import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64, i32, kernel, view } from "../../../src/index.js";
import { sizesOf } from "../../../src/ir/analysis/integer-ranges.js";
import type { Interval } from "../../../src/ir/analysis/affine.js";
import type { Expr } from "../../../src/ir/types.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";

const flat = kernel("flat", { n: i32, x: view(f64), y: view(f64) }, ({ n, x, y }, i, j) => {
  y[i * n + j] = x[i * n + j];
});
const steps = kernel("steps", { n: i32, y: view(f64) }, ({ n, y }, i) => {
  for (let k = 0; k < n; k += 5) y[i] = y[i] + k;
  for (let k = 0; k <= n; k++) y[i] = y[i] + k;
});

function sizes(code: unknown, given: { n: number; index?: Interval; extent?: number }) {
  return sizesOf(compileKernel(code as Kernel, {}).ir, (leaf: Expr) => {
    if (leaf.op === "param") return [given.n, given.n];
    if (leaf.op === "extent") return [given.extent ?? 100, given.extent ?? 100];
    return leaf.op === "index" ? (given.index ?? [0, 9]) : undefined;
  });
}

describe("what is known of a launch's integers", () => {
  it("is settled where no sum or product of its indices and scalars leaves i32", () => {
    assert.equal(sizes(flat, { n: 1000 }), "settled");
    assert.equal(sizes(flat, { n: 2 ** 28 }), "small");
    assert.equal(sizes(flat, { n: 1000, extent: 2 ** 30 + 1 }), "any");
    assert.equal(sizes(flat, { n: 1000, index: [-65537, 0] }), "any");
  });
  it("is settled where the counters of loops can step beyond their stops", () => {
    assert.equal(sizes(steps, { n: 2147483643 }), "settled");
    assert.equal(sizes(steps, { n: 2147483644 }), "small");
    assert.equal(sizes(steps, { n: 2147483647 }), "small");
  });
});
