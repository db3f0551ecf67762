import assert from "node:assert/strict";
import test from "node:test";
import { f32, f64, i32, kernel, open, range, view } from "../../../src/index.js";

/* Branches that lanes take differently, in blocks that assign some locals often, some once, and that lanes leave on the way. */

const doubles = kernel("masks of doubles", { kind: view(i32), x: view(f64), y: view(f64) }, ({ kind, x, y }, i) => {
  let [a, b, n] = [x[i], 1.5, kind[i]];
  if (kind[i] > 2) {
    a += 1;
    a *= b;
    if (x[i] < 0.5) {
      b = a - 1;
      b += 0.25;
      a = b * b;
      n = n + 1;
    } else {
      a -= 0.125;
      for (let k = 0; k < 3; k++) a += b * k;
    }
    a += b;
    for (let k = 0; k < 5; k++) {
      if (k >= n) break;
      b += a;
      if (b > 4) continue;
      b += k;
      a -= 0.5;
    }
  } else if (x[i] > 0.75) {
    n = 7;
    n += kind[i];
    a = n;
  }
  y[i] = a + 10 * b + 100 * n;
});

const floats = kernel("masks of floats", { kind: view(i32), x: view(f32), y: view(f32) }, ({ kind, x, y }, i) => {
  let a = x[i];
  let positive = false;
  let n = kind[i];
  if (n % 3 === 1) {
    a = Math.fround(a * 2);
    positive = a > 1;
    a = Math.fround(a + 1);
    if (positive) {
      n = n * 2;
      n = n - 1;
      positive = n > 8;
    }
  }
  y[i] = positive ? Math.fround(a + n) : Math.fround(a - n);
});

const LENGTH = 203;

for (const [k, type] of [
  [doubles, f64],
  [floats, f32],
] as const)
  test(`${k.name} change no bit`, async () => {
    const outputs = [];
    for (const backend of ["js", "wasm"]) {
      const device = await open(backend);
      const kind = device.from(
        i32,
        Int32Array.from({ length: LENGTH }, (_, n) => (n * 7) % 11),
      );
      const x = device.from(
        type as typeof f64,
        Array.from({ length: LENGTH }, (_, n) => ((n * 37) % 64) / 64),
      );
      const y = device.array(type as typeof f64, [LENGTH]);
      const launch = device.prepare(k as typeof doubles, { kind, x, y }, range(LENGTH), { precision: "strict" });
      if (backend === "wasm") assert.match(launch.remarks.join(), /lanes of a 128-bit vector/);
      device.queue.submit(launch);
      outputs.push([...(await device.queue.read(y))]);
      for (const used of [launch, kind, x, y]) used.free();
      await device.close();
    }
    assert.deepEqual(outputs[1], outputs[0]);
    assert.ok(new Set(outputs[0]).size > 40);
  });
