import assert from "node:assert/strict";
import { test } from "node:test";
import { compileKernel, f64, i32, kernel, open, range, sum, teamKernel, view, type Kernel } from "../../src/index.js";

const axpy = kernel("axpy", { n: i32, a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] += a * x[i];
});
const dot = kernel("dot", { x: view(f64), y: view(f64), s: sum(f64) }, ({ x, y, s }, i) => {
  s.add(x[i] * y[i]);
});
const rows = teamKernel("rows", { x: view(f64, 2), y: view(f64) }, ({ x, y }, team) => {
  const s = team.sum(x[0].length, (j) => x[team.index][j]);
  team.single(() => {
    y[team.index] = s;
  });
});

test("every kernel is a Kernel", () => {
  const kernels: Kernel[] = [axpy, dot, rows];
  assert.deepEqual(
    kernels.map((k) => compileKernel(k).ir.name),
    ["axpy", "dot", "rows"],
  );
});

test("a view is read as the typed array of its element type", async () => {
  const device = await open("js");
  const doubles: Float64Array = await device.queue.read(device.from(f64, [1.5, 2]));
  assert.deepEqual(doubles, new Float64Array([1.5, 2]));
  // @ts-expect-error integers are no floats
  const integers: Float64Array = await device.queue.read(device.from(i32, [1, 2]));
  assert.ok((integers as unknown) instanceof Int32Array);
  await device.close();
});

test("arguments of another element type are refused by the compiler and at run time", async () => {
  const device = await open("js");
  const x = device.array(f64, 4);
  const whole = device.array(i32, 4);
  // @ts-expect-error y is a view of f64
  await assert.rejects(device.run(dot, { x, y: whole }, range(4)), /y/);
  // @ts-expect-error y is missing
  await assert.rejects(device.run(dot, { x }, range(4)), /y/);
  await device.close();
});
