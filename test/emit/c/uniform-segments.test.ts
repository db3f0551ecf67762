import assert from "node:assert/strict";
import test from "node:test";
import { emitOpenMP } from "../../../src/emit/c/openmp.js";
import { f64, i32, kernel, open, range, sum, view, type Device } from "../../../src/index.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { tested } from "../../devices.js";

const params = { kind: view(i32), x: view(f64), y: view(f64) };

/** Two long branches, the one inside of segments that the other leaves, and a short one. */
const byKind = kernel("by kind", params, ({ kind, x, y }, i) => {
  const own = kind[i];
  let value = x[i];
  if (own === 7) for (let n = 1; n < 12; n++) value += x[i] / (n + value * value);
  else for (let n = 1; n < 9; n++) value -= (x[i] * n) / (1 + value * value);
  if ((own & 4) !== 0) for (let n = 1; n < 10; n++) value = 0.5 * (value + n * x[i]) + 1 / (n + value * value);
  if (own === 3) value += 1;
  y[i] = value;
});
const reduced = kernel("by kind, reduced", { ...params, total: sum(f64) }, ({ kind, x, y, total }, i) => {
  let value = x[i];
  if (kind[i] === 7) for (let n = 1; n < 12; n++) value += x[i] / (n + value * value);
  else for (let n = 1; n < 9; n++) value -= (x[i] * n) / (1 + value * value);
  y[i] = value;
  total.add(value);
});
const changing = kernel("changing", { kind: view(i32), x: view(f64) }, ({ kind, x }, i) => {
  if (kind[i] === 7) for (let n = 1; n < 12; n++) x[i] += x[i] / (n + x[i] * x[i]);
  kind[i] = 1;
});

/** A long branch within another, one that its condition decides, and short ones on each bit where many are set; values that are replaced. */
const nested = kernel("nested", { ...params, links: view(i32) }, ({ kind, links, x, y }, i) => {
  if (kind[i] !== 4) {
    const found = links[i];
    let value = x[i];
    let other = 1;
    if (found !== 0)
      for (let q = 0; q < 12; q++) {
        if ((found & (1 << q)) !== 0) value += x[i] / (q + value * value);
        other += value;
      }
    for (let n = 1; n < 9; n++) value -= (x[i] * n) / (other + value * value);
    if ((found & 1) !== 0) {
      value = x[i] + 3;
      for (let n = 1; n < 12; n++) value = 0.5 * (value + n * x[i]);
    }
    y[i] = value;
  }
});

const emit = (k: unknown, disjoint = true): string => {
  const { ir, access } = compileKernel(k as Kernel, {});
  return emitOpenMP(ir, access, {
    strides: { kind: [1], links: [1], x: [1], y: [1] },
    disjoint,
    ordered: true,
    sizes: "settled",
    scatter: {},
  }).source;
};

test("long branches on what nothing changes leave the vector loops", () => {
  assert.equal(emit(byKind).match(/for \(int64_t i = segment_start/g)?.length, 3, "7 has the bit 4, so there is no way between");
  assert.match(emit(byKind), /const int32_t kind_here_ = kind_\[segment_start_\];/);
  assert.match(emit(byKind), /int32_t own_ = kind_here_;/);
  assert.match(emit(byKind), /if \(segment_stop_ - segment_start_ == 1\) \{\s+const int64_t i = segment_start_;/);
  assert.match(emit(reduced), /if \(alike && way_ == 1\)/);
});

test("ways are told by branches within others, those that cannot be left out, and those with many branches go one by one", () => {
  const source = emit(nested);
  assert.match(source, /const int32_t links_here_1_ = \(?kind_here_ != 4\)? \? links_\[segment_start_\] : 0;/);
  assert.match(source, /\(!\(kind_here_ != 4\) \|\| links_\[segment_stop_\] == links_here_1_\)/);
  assert.match(source, /if \(way_ != 0\) while/);
  // Those of kind 4, and the others without links; with bit 0 the values before are replaced.
  assert.equal(source.match(/for \(int64_t i = segment_start/g)?.length, 2);
  assert.equal(source.match(/& 2048\)/g)?.length, 1);
});

test("branches stay where their conditions may change", () => {
  assert.doesNotMatch(emit(byKind, false), /segment_start/);
  assert.doesNotMatch(emit(changing), /segment_start/);
});

const LENGTH = 1000;
/** Long segments and short ones, beginning anywhere. */
const kinds = Int32Array.from({ length: LENGTH }, (_, n) => (n % 190 < 70 ? 7 : n % 190 < 80 ? n % 8 : n % 190 < 150 ? 4 : 3));
const values = Float64Array.from({ length: LENGTH }, (_, n) => 0.3 + ((n * 37) % 101) / 50);

const links = Int32Array.from(kinds, (kind, n) => (kind === 3 ? (n % 5) * 37 : kind === 7 ? 0 : n % 3 === 0 ? 1 : 2048));

async function run(device: Device, k: unknown): Promise<{ y: Float64Array; total?: number }> {
  const [kind, x, y] = [device.from(i32, kinds), device.from(f64, values), device.array(f64, [LENGTH])];
  const linked = k === nested ? { links: device.from(i32, links) } : {};
  const results = await device.run(k as typeof reduced, { kind, x, y, ...linked }, range([3, LENGTH - 2]), { precision: "strict" });
  const found = { y: (await device.queue.read(y)) as Float64Array, total: results?.total };
  for (const array of [kind, x, y, ...Object.values(linked)]) array.free();
  return found;
}

for (const streaming of tested("native") ? ["never", "always"] : [])
  test(`they change no bit, with stores ${streaming === "never" ? "through" : "past"} the caches`, async (t) => {
    const before = process.env.ISOFORM_STREAMING;
    process.env.ISOFORM_STREAMING = streaming;
    let native: Device;
    try {
      native = await open("native");
    } catch (error) {
      return t.skip((error as Error).message);
    }
    const js = await open("js");
    try {
      for (const k of [byKind, reduced, nested]) assert.deepEqual(await run(native, k), await run(js, k));
    } finally {
      if (before === undefined) delete process.env.ISOFORM_STREAMING;
      else process.env.ISOFORM_STREAMING = before;
      await Promise.all([native.close(), js.close()]);
    }
  });
