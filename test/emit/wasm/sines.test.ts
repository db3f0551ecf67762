import assert from "node:assert/strict";
import { test } from "node:test";
import { f32, f64, kernel, open, range, view, type Kernel } from "../../../src/index.js";

/* Sines and cosines of fast mode, which go in pairs, and rounding there. */

const params = { x: view(f64), s: view(f64), c: view(f64) };
const doubles = kernel("doubles", params, ({ x, s, c }, i) => {
  s[i] = Math.sin(x[i]);
  c[i] = Math.cos(x[i]);
});
const singles = kernel("singles", { x: view(f32), s: view(f32), c: view(f32) }, ({ x, s, c }, i) => {
  s[i] = Math.sin(x[i]);
  c[i] = Math.cos(x[i]);
});
/** Single numbers that lie in the low half of a vector, as there are double ones. */
const mixed = kernel("mixed", { x: view(f32), s: view(f64), c: view(f64) }, ({ x, s, c }, i) => {
  s[i] = Math.sin(x[i]);
  c[i] = 2 * Math.cos(x[i]);
});
const chosen = kernel("chosen", params, ({ x, s, c }, i) => {
  if (x[i] > 1) s[i] = Math.sin(x[i]);
  else c[i] = Math.cos(x[i] * 0.5);
});
const rounded = kernel("rounded", params, ({ x, s, c }, i) => {
  let sum = 0;
  // Gathers for turns that differ: elements go one by one.
  for (let k = 0; k < x[i % 3]; k++) sum += x[(i * 7 + k) % x.length];
  s[i] = Math.round(x[i]);
  c[i] = sum;
});

const noise = (n: number): number => Math.abs(Math.sin(12.9898 * (n + 1)) * 43758.5453) % 1;

const SPECIAL = [0, -0, NaN, Infinity, -Infinity, 5e-324, -1e-310, 1e-30, 2 ** 20, 1048575.9, -(2 ** 20) - 1, 1e300];
/** Of all sizes up to where pairs give up and beyond, near multiples of a quarter turn, special ones; an odd number. */
const ARGUMENTS = [
  // Nothing below 2^20 is as near to a multiple of a quarter turn as the first, for its size.
  ...[1, 2, 4, 8, 16, 2048, 16384].map((n) => n * 45.553093477052),
  ...SPECIAL,
  ...Array.from({ length: 6001 }, (_, n) => (noise(n) - 0.5) * 10 ** (9 * noise(n + 9999) - 3)),
  ...Array.from({ length: 4000 }, (_, n) => ((n - 2000) * Math.PI) / 4),
  ...Array.from({ length: 900 }, (_, n) => n * 700 * Math.PI),
];

const bits = new DataView(new ArrayBuffer(8));
/** Place of a number among all f64. */
function place(value: number): bigint {
  bits.setFloat64(0, value);
  const at = bits.getBigInt64(0);
  return at < 0n ? -(at & 0x7fffffffffffffffn) : at;
}
function requireNear(actual: number, expected: number, what: string): void {
  if (Object.is(actual, expected)) return;
  const off = place(actual) - place(expected);
  assert.ok(!Number.isNaN(actual) && expected !== 0 && off <= 2n && off >= -2n, `${what} is ${actual} instead of ${expected}`);
}

const device = await open("wasm");
device.checked = false;
test.after(() => device.close());

async function outcome(k: unknown, [from, to]: readonly (typeof f64 | typeof f32)[]) {
  const length = ARGUMENTS.length;
  const [x, s, c] = [
    device.from(from as typeof f64, ARGUMENTS),
    device.array(to as typeof f64, length),
    device.array(to as typeof f64, length),
  ];
  const launch = device.prepare(k as Kernel<typeof params>, { x, s, c }, range(length));
  launch.submit();
  const [sines, cosines] = [await device.queue.read(s), await device.queue.read(c)];
  const source = launch.source();
  for (const used of [launch, x, s, c]) used.free();
  return { sines, cosines, source };
}

test("sines and cosines of doubles are within 2 ulp, zeros have their signs, and no number has none", async () => {
  const { sines, cosines, source } = await outcome(doubles, [f64, f64]);
  assert.match(source, /func \$sin/);
  ARGUMENTS.forEach((x, n) => {
    requireNear(sines[n], Math.sin(x), `sin ${x}`);
    requireNear(cosines[n], Math.cos(x), `cos ${x}`);
  });
});

test("those of singles are the nearest ones", async () => {
  for (const [k, to] of [
    [singles, f32],
    [mixed, f64],
  ] as const) {
    const { sines, cosines } = await outcome(k, [f32, to]);
    Float32Array.from(ARGUMENTS).forEach((x, n) => {
      assert.equal(sines[n], Math.fround(Math.sin(x)), `sin ${x}`);
      assert.equal(cosines[n], Math.fround(Math.cos(x)) * (k === mixed ? 2 : 1), `cos ${x}`);
    });
  }
});

test("elements that ask for none get none", async () => {
  const { sines, cosines } = await outcome(chosen, [f64, f64]);
  ARGUMENTS.forEach((x, n) => {
    requireNear(sines[n], x > 1 ? Math.sin(x) : 0, `sin ${x}`);
    requireNear(cosines[n], x > 1 ? 0 : Math.cos(x * 0.5), `cos ${x}`);
  });
});

test("fast mode rounds single elements to the same numbers", async () => {
  const { sines } = await outcome(rounded, [f64, f64]);
  // == takes both zeros for one.
  ARGUMENTS.forEach((x, n) => assert.ok(sines[n] == Math.round(x) || Number.isNaN(x), `${x}: ${sines[n]}`));
});
