import assert from "node:assert/strict";
import { test } from "node:test";
import { f32, f64, i32, kernel, max, open, range, view, type Device, type Kernel, type Precision } from "../../../src/index.js";

/* Loops of one element whose turns go in vectors, and least and greatest values of floats. */

const params = { a: view(f64, 2), counts: view(i32), c: view(f64), least: view(f64), most: view(f64) };

/** As many turns as data say, of records of two, some of which do not count. */
const near = kernel("near", params, ({ a, counts, c, least, most }, i) => {
  let [sum, low, high] = [0, 1e300, -1e300];
  for (let k = counts[i]; k < counts[i + 1]; k++) {
    const way = a[k][0] * a[i][1] + a[k][1];
    if (a[k][1] > 0.25) {
      sum += way * way;
      low = Math.min(low, way);
      high = Math.max(way, high);
    }
  }
  [c[i], least[i], most[i]] = [sum, low, high];
});
const singles = kernel("singles", { a: view(f32), counts: view(i32), c: view(f32) }, ({ a, counts, c }, i) => {
  let sum = Math.fround(0);
  for (let k = counts[i]; k < counts[i + 1]; k++) sum = Math.fround(sum + a[k]);
  c[i] = sum;
});
const whole = kernel("whole", { a: view(i32), counts: view(i32), c: view(i32) }, ({ a, counts, c }, i) => {
  let sum = 0;
  for (let k = counts[i]; k < counts[i + 1]; k++) sum = (sum + a[k]) | 0;
  c[i] = sum;
});
/** A turn needs the sum of the one before. */
const carried = kernel("carried", { a: view(f64), counts: view(i32), c: view(f64) }, ({ a, counts, c }, i) => {
  let sum = 0;
  for (let k = counts[i]; k < counts[i + 1]; k++) sum += a[k] * (1 - sum);
  c[i] = sum;
});
const largest = kernel("largest", { a: view(f64), most: max(f64), near: max(f32) }, ({ a, most, near }, i) => {
  most.max(a[i]);
  if (a[i] > -3) near.max(Math.fround(a[i]));
});

/** Elements, and turns of each: none, some that fill no vector, many. */
const TURNS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 40];
const STARTS = TURNS.map((_, n) => TURNS.slice(0, n).reduce((a, b) => a + b, 0));
const ENDS = STARTS.map((start, n) => start + TURNS[n]);
const ALL = ENDS.at(-1)!;

const [js, wasm] = await Promise.all([open("js"), open("wasm")]);
for (const device of [js, wasm]) device.checked = false;
test.after(() => Promise.all([js.close(), wasm.close()]));

/** Contents of views that a kernel has, by what is read of `a`. */
async function outcome(device: Device, k: unknown, values: readonly number[], precision: Precision) {
  const { params } = k as Kernel;
  const views = Object.fromEntries(
    Object.entries(params).flatMap(([name, param]) => {
      if (typeof param !== "object" || !("rank" in param && "element" in param)) return [];
      const type = { type: param.element } as typeof f64;
      if (name === "a") return [[name, device.from(type, values, param.rank === 2 ? [ALL, 2] : [values.length])]];
      return [[name, name === "counts" ? device.from(type, [...STARTS, ALL]) : device.array(type, TURNS.length)]];
    }),
  );
  const launch = device.prepare(k as Kernel, views as never, range(k === largest ? values.length : TURNS.length), { precision });
  launch.submit();
  const results: Record<string, number | number[]> = { ...(await device.queue.results(launch)) };
  for (const [name, used] of Object.entries(views)) results[name] = [...(await device.queue.read(used))];
  const remarks = launch.remarks.join("\n");
  launch.free();
  for (const used of Object.values(views)) used.free();
  return { results, remarks };
}

const IN_VECTORS = /turns of "k\w*": \d lanes/;
/** Halves: their products and sums are exact in any order. */
const halves = (length: number): number[] => Array.from({ length }, (_, n) => ((n * 7) % 13) / 2 - 2);

test("turns go in vectors where their order is free", async () => {
  for (const [k, values, modes] of [
    [near, halves(2 * ALL), ["fast"]],
    [singles, halves(ALL), ["fast"]],
    [whole, halves(ALL).map((x) => 2 ** 28 * Math.trunc(x)), ["strict", "fast"]],
    [carried, halves(ALL).map((x) => x / 100), []],
  ] as const)
    for (const precision of ["strict", "fast"] as const) {
      const [expected, actual] = [await outcome(js, k, values, precision), await outcome(wasm, k, values, precision)];
      const inVectors = (modes as readonly string[]).includes(precision);
      assert.equal(IN_VECTORS.test(actual.remarks), inVectors, `${k.name}, ${precision}: ${actual.remarks}`);
      if (k !== carried) assert.deepEqual(actual.results, expected.results, `${k.name}, ${precision}`);
    }
});

test("least and greatest values are NaN where what counts is", async () => {
  for (const n of [0, 1, 2, 11, 12, 2 * ALL - 2, 2 * ALL - 1]) {
    const values = halves(2 * ALL).map((x, at) => (at === n || at === n + 30 ? NaN : x));
    const [expected, actual] = [await outcome(js, near, values, "fast"), await outcome(wasm, near, values, "fast")];
    assert.deepEqual(actual.results, expected.results, `NaN at ${n}`);
  }
  for (const n of [0, 1, 63, 64, 530, 531]) {
    const values = halves(532).map((x, at) => (at === n ? NaN : x));
    assert.deepEqual((await outcome(wasm, largest, values, "fast")).results, (await outcome(js, largest, values, "fast")).results);
  }
});
