import assert from "node:assert/strict";
import { it } from "node:test";
import { compileKernel, f64, fixed, i32, kernel, view, type Kernel } from "isoform";
import { optimised } from "./lowered.js";

const scaled = kernel("scaled", { c: fixed(f64), n: fixed(i32), y: view(f64) }, ({ c, n, y }, i) => {
  y[i] = c * y[i] + n;
}) as unknown as Kernel;

it("a kernel is compiled once for each set of fixed values", () => {
  assert.equal(compileKernel(scaled, { c: 1.5, n: 2 }), compileKernel(scaled, { n: 2, c: 1.5 }));
  const values = [0, -0, NaN, Infinity, -Infinity, 1, 2];
  assert.equal(new Set(values.map((c) => compileKernel(scaled, { c, n: 1 }))).size, values.length);
});

it("fixed values are folded into the code", () => {
  assert.equal(optimised(scaled, { c: 1, n: 3 }), "y[i] = y[i] + 3.0");
  assert.equal(optimised(scaled, { c: -0, n: 3 }), "y[i] = -0.0 * y[i] + 3.0");
});

it("code for a device that calls the function itself is kept apart", () => {
  assert.notEqual(compileKernel(scaled, { c: 1, n: 1 }), compileKernel(scaled, { c: 1, n: 1 }, { debug: true }));
});
