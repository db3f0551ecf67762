import assert from "node:assert/strict";
import test from "node:test";
import { emitOpenMP } from "../../../src/emit/c/openmp.js";
import { f64, i32, kernel, open, range, view } from "../../../src/index.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { tested } from "../../devices.js";

const params = { turns: i32, x: view(f64, 2), y: view(f64, 2) };

/** What an element carries through its turns, of which each does much and reads a row. */
const carrying = kernel("carrying", params, ({ turns, x, y }, j, i) => {
  let [sum, last] = [0, x[j][i]];
  const factor = 1 + x[j][i + 1];
  for (let t = 0; t < turns; t++) {
    const row = t > 2 ? t - 2 : t;
    let value = x[row][i] * factor;
    for (let n = 1; n < 9; n++) value = 0.5 * (value + n * last) + 1 / (n + value * value);
    if (value > last) sum += value - last;
    last = value;
    y[j][i] = sum + last;
  }
});
const ragged = kernel("ragged", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, j, i) => {
  let value = x[j][i];
  for (let t = 0; t < i; t++) for (let n = 1; n < 9; n++) value = 0.5 * (value + n * x[t][i]) + 1 / (n + value * value);
  y[j][i] = value;
});
const short = kernel("short", params, ({ turns, x, y }, j, i) => {
  for (let t = 0; t < turns; t++) y[j][i] = x[j][i] * t;
});
const columnSums = kernel("columnSums", params, ({ turns, x, y }, j, i) => {
  let sum = 0;
  for (let t = 0; t < turns; t++) sum += x[j][t] * x[t][i];
  y[j][i] = sum / turns;
});

const emit = (k: unknown, disjoint = true): string => {
  const { ir, access } = compileKernel(k as Kernel, {});
  return emitOpenMP(ir, access, { strides: { x: [99, 1], y: [99, 1] }, disjoint, ordered: true, sizes: "settled", scatter: {} }).source;
};

test("elements that loop alike go through their loop in strips", () => {
  const source = emit(carrying);
  assert.equal(source.match(/#pragma omp simd\n +for \(int64_t j = strip_; j < strip_end_; j\+\+\)/g)?.length, 2);
  for (const local of ["sum", "last", "factor"]) assert.match(source, new RegExp(`double ${local}_row_\\[64\\];`));
  // What is the same for all elements is outside of the loop over them, and what does not change is not stored again.
  assert.match(source, /row_ = .*;.*\n +#pragma omp simd/);
  assert.equal(source.match(/factor_row_\[.*\] = /g)?.length, 1);
});

test("other loops stay inside of the elements", () => {
  for (const source of [emit(carrying, false), emit(ragged), emit(short)]) assert.doesNotMatch(source, /strip_end/);
});

test("elements whose turns jump from row to row go in strips, however little a turn does", () => {
  const source = emit(columnSums);
  assert.match(source, /double sum_row_\[64\];/);
  assert.match(source, /y_\[.*\] = sum_ \/ /);
});

const native = tested("native") ? await open("native").catch((error: Error) => error.message) : "not asked for";

test("strips have the bits of elements one by one", { skip: typeof native === "string" ? native : false }, async () => {
  const [NX, NY] = [301, 9];
  const results = [];
  for (const device of [native as Exclude<typeof native, string>, await open("js")]) {
    const x = device.from(
      f64,
      Float64Array.from({ length: NX * NY }, (_, n) => Math.sin(n * n)),
      [NY, NX],
    );
    const y = device.array(f64, [NY, NX]);
    for (const each of [carrying, columnSums]) {
      await device.run(each, { turns: 7, x, y }, range([0, NY], [2, NX - 1]), { precision: "strict" });
      results.push(await device.queue.read(y));
    }
    await device.close();
  }
  assert.deepEqual(results.slice(0, 2), results.slice(2));
});
