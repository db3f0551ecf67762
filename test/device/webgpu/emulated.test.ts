import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { range } from "../../../src/device/launch/policy.js";
import { firstWrong } from "../../../src/device/webgpu/self-test.js";
import { kernel } from "../../../src/kernel/declare/kernel.js";
import { f64, i32, scatter, table, view } from "../../../src/kernel/declare/params.js";
import { make, noiseValue } from "../../../src/testing/values.js";
import { openWebGpu } from "./opened.js";

const operations = kernel("operations", { a: view(f64), b: view(f64), o: view(f64, 2) }, ({ a, b, o }, i) => {
  o[0][i] = a[i] + b[i];
  o[1][i] = a[i] - b[i];
  o[2][i] = a[i] * b[i];
  o[3][i] = a[i] / b[i];
  o[4][i] = Math.sqrt(Math.abs(a[i]));
});
const OPERATIONS: [name: string, of: (a: number, b: number) => number][] = [
  ["+", (a, b) => a + b],
  ["-", (a, b) => a - b],
  ["*", (a, b) => a * b],
  ["/", (a, b) => a / b],
  ["sqrt", (a) => Math.sqrt(Math.abs(a))],
];
const crowd = kernel("crowd", { at: view(i32), x: view(f64), h: scatter(f64) }, ({ at, x, h }, i) => {
  h.add(at[i], x[i]);
});

const fill = kernel("fill", { o: view(f64), a: f64 }, ({ o, a }, i) => {
  o[i] = a;
});

/** A value that two f32 hold. */
const held = (x: number): number => Math.fround(x) + Math.fround(x - Math.fround(x));

const { device, skip } = await openWebGpu({ f64: "emulate" });

describe("emulated f64 on webgpu", { skip }, () => {
  after(() => device?.close());

  for (const precision of ["strict", "fast"] as const)
    it(`has 44 bits at least in ${precision} mode`, async () => {
      const n = 20_000;
      const value = (k: number) => held((noiseValue(k) - 0.5) * 2 ** Math.floor(noiseValue(k + 0.5) * 60 - 30));
      const as = make(n, (k) => value(k));
      // Every third pair nearly cancels.
      const bs = make(n, (k) => (k % 3 === 0 ? held(-as[k] * (1 + (noiseValue(k + 0.2) - 0.5) * 2 ** -20)) : value(k + n)));
      const [a, b, o] = [device.from(f64, as), device.from(f64, bs), device.array(f64, [OPERATIONS.length, n])];
      await device.run(operations, { a, b, o }, range(n), { precision });
      const actual = await device.queue.read(o);
      for (const [row, [name, of]] of OPERATIONS.entries())
        for (let k = 0; k < n; k++) {
          const expected = of(as[k], bs[k]);
          const error = Math.abs(actual[row * n + k] - expected) / Math.abs(expected);
          assert.ok(error <= 2 ** -44, `${as[k]} ${name} ${bs[k]}: off by 2^${Math.log2(error).toFixed(1)}`);
        }
    });

  it("refuses constants, tables and arguments that two f32 have no room for, by name", async () => {
    const huge = kernel("huge", { o: view(f64), a: f64, t: table(f64, [1, 2]) }, ({ o, a, t }, i) => {
      o[i] = Math.min(a, 1e200) - t[i % 2];
    });
    const large = kernel("large", { o: view(f64), a: f64, t: table(f64, [1, 1e300]) }, ({ o, a, t }, i) => {
      o[i] = a - t[i % 2];
    });
    const o = device.array(f64, 4);
    await assert.rejects(
      device.run(huge, { o, a: 1 }, range(4)),
      /kernel "huge" .*emulated\.test\.[jt]s:\d+\) on webgpu: a constant is 1e\+200, and emulated f64 has the range of f32, .*use a backend with f64/,
    );
    await assert.rejects(device.run(large, { o, a: 1 }, range(4)), /a value of table "t" is 1e\+300/);
    await assert.rejects(device.run(fill, { o, a: -1e200 }, range(4)), /"a" is -1e\+200/);
    await device.run(fill, { o, a: -Infinity }, range(4));
    assert.deepEqual([...(await device.queue.read(o))], Array(4).fill(-Infinity));
  });

  it("adds from many elements at once without losing bits", async () => {
    const n = 30_000;
    const xs = make(n, (k) => held(noiseValue(k) - 0.2));
    const ats = make(n, (k) => k % 5);
    const expected = [0, 0, 0, 0, 0];
    xs.forEach((x, k) => (expected[ats[k]] += x));
    // In any order: each of n / 5 additions is off by 2^-44 of a partial sum, none of which is more than that of all magnitudes.
    const bound =
      (n / 5) * 2 ** -44 * Math.max(...expected.map((_, k) => xs.reduce((sum, x, j) => (ats[j] === k ? sum + Math.abs(x) : sum), 0)));
    for (const strategy of ["atomic", "duplicated", "sorted"] as const) {
      const h = device.array(f64, 5);
      await device.run(crowd, { at: device.from(i32, ats), x: device.from(f64, xs), h }, range(n), { scatter: strategy });
      const sums = await device.queue.read(h);
      expected.forEach((sum, k) => assert.ok(Math.abs(sums[k] - sum) <= bound, `${strategy}: ${sums[k]} instead of ${sum}`));
    }
  });

  it("refuses functions that it does not emulate, by name", async () => {
    const [x, h] = [device.array(f64, 4), device.array(f64, 1)];
    const least = kernel("least", { x: view(f64), h: scatter(f64, 1, "min") }, ({ x, h }, i) => {
      h.min(0, x[i]);
    });
    assert.throws(
      () => device.prepare(least, { x, h }, range(4), { scatter: "atomic" }),
      /kernel "least": scatter "h" cannot be atomic on WebGPU: an emulated f64 is two words/,
    );
  });
});

it("without emulation, f64 is refused by name", { skip }, async () => {
  const { device: plain } = await openWebGpu();
  const args = { a: plain.array(f64, 4), b: plain.array(f64, 4), o: plain.array(f64, [OPERATIONS.length, 4]) };
  assert.throws(() => plain.prepare(operations, args, range(4)), {
    name: "LaunchError",
    message:
      /kernel "operations" .* on webgpu: its parameter "a" is f64, and WebGPU has no f64; use f32, open the device with { f64: "emulate" } \(--f64 emulate\)/,
  });
  await plain.close();
});

it("the self-test finds a contracted product and a regrouped sum", () => {
  const [a, b] = [Math.fround(0.1), Math.fround(1 / 3)];
  const right = (error: (exact: number, rounded: number) => number) =>
    [a + b, a * b].flatMap((exact) => [Math.fround(exact), error(exact, Math.fround(exact))]);
  assert.equal(
    firstWrong(
      [a, b],
      right((exact, rounded) => exact - rounded),
    ),
    undefined,
  );
  assert.match(
    firstWrong(
      [a, b],
      right(() => 0),
    )!,
    /gave .* with the error 0/,
  );
});
