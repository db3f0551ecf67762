import assert from "node:assert/strict";
import { it, test } from "node:test";
import { range } from "../../src/device/launch/policy.js";
import { open } from "../../src/device/open.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f32, f64, i32, table, u32, view } from "../../src/kernel/declare/params.js";
import { normalPair, normalPair32, philox, random, sobol, SOBOL_DIRECTIONS, uniform, uniform32 } from "../../src/patterns/index.js";
import { eachDevice } from "./devices.js";

/** Counter, key and words: the known answers published with Random123. */
const ANSWERS: readonly (readonly [counter: number[], key: [number, number], words: number[]])[] = [
  [
    [0, 0, 0, 0],
    [0, 0],
    [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
  ],
  [Array(4).fill(0xffffffff), [0xffffffff, 0xffffffff], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]],
  [
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    [0xa4093822, 0x299f31d0],
    [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  ],
];

const words = kernel(
  "words",
  { ...random, key: view(u32, 2), counter: view(u32, 2), out: view(u32, 2) },
  ({ philox, key, counter, out }, i) => {
    const r = new Uint32Array(4);
    for (let k = 0; k < 4; k++) r[k] = counter[i][k];
    philox(r, key[i][0], key[i][1]);
    for (let k = 0; k < 4; k++) out[i][k] = r[k];
  },
);
const draws = kernel("draws", { ...random, seed: u32, u: view(f64), n: view(f64, 2) }, ({ philox, uniform, normalPair, seed, u, n }, i) => {
  const r = new Uint32Array(4);
  r[0] = i >>> 0;
  philox(r, seed, 0);
  u[i] = uniform(r[0], r[1]);
  const [a, b] = normalPair(u[i], uniform(r[2], r[3]));
  n[i][0] = a;
  n[i][1] = b;
});
const draws32 = kernel(
  "draws32",
  { ...random, seed: u32, u: view(f32), n: view(f32, 2) },
  ({ philox, uniform32, normalPair32, seed, u, n }, i) => {
    const r = new Uint32Array(4);
    r[0] = i >>> 0;
    philox(r, seed, 0);
    u[i] = uniform32(r[0]);
    const [a, b] = normalPair32(u[i], uniform32(r[1]));
    n[i][0] = a;
    n[i][1] = b;
  },
);
const points = kernel(
  "points",
  { directions: table(u32, SOBOL_DIRECTIONS), sobol, out: view(f64, 2), first: i32 },
  ({ directions, sobol, out, first }, i, d) => {
    out[i][d] = sobol(directions, first + i, d);
  },
);

test("Philox4x32-10 gives its known answers on the host", () => {
  for (const [counter, key, answer] of ANSWERS) {
    const r = Uint32Array.from(counter);
    philox(r, ...key);
    assert.deepEqual([...r], answer);
  }
});

/** Times 2^32, from SciPy's unscrambled sequence put into natural order. */
const POINTS: readonly (readonly [index: number, point: readonly number[]])[] = [
  [2, [1073741824, 3221225472, 3221225472, 3221225472, 1073741824, 1073741824, 3221225472, 1073741824, 1073741824, 1073741824]],
  [100, [637534208, 3321888768, 2986344448, 4127195136, 2248146944, 301989888, 167772160, 2516582400, 503316480, 4261412864]],
  [777, [2428502016, 809500672, 3829399552, 767557632, 1161822208, 549453824, 3443523584, 952107008, 2965372928, 3661627392]],
];

test("Sobol points are those of Joe and Kuo's directions", () => {
  assert.equal(SOBOL_DIRECTIONS.length, 10);
  for (const [index, point] of POINTS)
    assert.deepEqual(
      point.map((_, d) => sobol(SOBOL_DIRECTIONS, index, d) * 2 ** 32),
      point,
    );
});

test("minifiers, which leave a plus away, change no uniform number", async () => {
  const words = [0, 63, 0x80000000, 0xffffffff, 123456789];
  // As rolldown writes it.
  const minified = new Function("return (e,t)=>(e>>>5)*7.450580596923828e-9+(t>>>6)*11102230246251565e-32")() as typeof uniform;
  const body = new Function("return ({w:n,u:e,f:r},t)=>{e[t]=r(n[t],n[t])}")() as never;
  const k = kernel("k", { w: view(u32), u: view(f64), f: minified }, body);
  const device = await open("js");
  const u = device.array(f64, words.length);
  await device.run(k, { w: device.from(u32, words), u } as never, range(words.length));
  assert.deepEqual(
    [...((await device.queue.read(u)) as Float64Array)],
    words.map((word) => uniform(word, word)),
  );
  await device.close();
});

test("uniform numbers lie in [0, 1)", () => {
  assert.deepEqual([uniform(0, 63), uniform(0, 64), uniform(0x80000000, 0)], [0, 2 ** -53, 0.5]);
  assert.equal(uniform(0xffffffff, 0xffffffff), 1 - 2 ** -53);
  assert.deepEqual([uniform32(255), uniform32(256), uniform32(0xffffffff)], [0, 2 ** -24, 1 - 2 ** -24]);
});

test("pairs of normal numbers are finite, and mirror the angle", () => {
  for (const pair of [normalPair, normalPair32]) {
    assert.deepEqual(pair(0, 0.3).map(Math.abs), [0, 0]);
    const [a, b] = pair(1 - 2 ** -24, 0.125);
    assert.ok(Math.abs(a - b) < 1e-6 && Math.abs(a * a + b * b - 48 * Math.LN2) < 1e-5);
  }
});

await eachDevice("random numbers", (device) => {
  it("are Philox's", async () => {
    const out = device.array(u32, [3, 4]);
    const counter = device.from(
      u32,
      ANSWERS.flatMap(([c]) => c),
      [3, 4],
    );
    const key = device.from(
      u32,
      ANSWERS.flatMap(([, k]) => k),
      [3, 2],
    );
    await device.run(words, { key, counter, out }, range(3));
    assert.deepEqual(
      [...(await device.queue.read(out))],
      ANSWERS.flatMap(([, , answer]) => answer),
    );
  });

  const real = device.capabilities.f64 ? f64 : f32;
  it(`are uniform, with the host's bits, and normal, in ${real.type}`, async () => {
    const count = 20_000;
    let [u, n]: Float64Array[] = [];
    if (device.capabilities.f64) {
      const views = { u: device.array(f64, count), n: device.array(f64, [count, 2]) };
      await device.run(draws, { seed: 42, ...views }, range(count));
      [u, n] = (await Promise.all([device.queue.read(views.u), device.queue.read(views.n)])) as Float64Array[];
    } else {
      const views = { u: device.array(f32, count), n: device.array(f32, [count, 2]) };
      await device.run(draws32, { seed: 42, ...views }, range(count));
      [u, n] = (await Promise.all([device.queue.read(views.u), device.queue.read(views.n)])).map((list) => Float64Array.from(list));
    }
    for (let i = 0; i < 200; i++) {
      const r = Uint32Array.of(i, 0, 0, 0);
      philox(r, 42, 0);
      assert.equal(u[i], device.capabilities.f64 ? uniform(r[0], r[1]) : uniform32(r[0]));
    }
    const mean = (list: Float64Array, power: number): number => list.reduce((sum, x) => sum + x ** power, 0) / list.length;
    // Five standard deviations of the means.
    assert.ok(Math.abs(mean(u, 1) - 1 / 2) < 5 / Math.sqrt(12 * count));
    assert.ok(Math.abs(mean(u, 2) - 1 / 3) < 5 * Math.sqrt(4 / 45 / count));
    assert.ok(Math.abs(mean(n, 1)) < 5 / Math.sqrt(2 * count));
    assert.ok(Math.abs(mean(n, 2) - 1) < 5 * Math.sqrt(1 / count));
    assert.ok(Math.abs(mean(n, 4) - 3) < 5 * Math.sqrt(48 / count));
  });

  it("may be Sobol's points", { skip: !device.capabilities.f64 && "it has no f64" }, async () => {
    const dimensions = SOBOL_DIRECTIONS.length;
    const out = device.array(f64, [16, dimensions]);
    await device.run(points, { first: 16, out }, range(16, dimensions));
    const values = await device.queue.read(out);
    for (let d = 0; d < dimensions; d++) {
      // Each of 16 parts holds one of the points.
      const parts = [...Array(16).keys()].map((i) => Math.floor(16 * values[dimensions * i + d]));
      assert.deepEqual(
        parts.sort((a, b) => a - b),
        [...Array(16).keys()],
      );
      assert.equal(values[d], sobol(SOBOL_DIRECTIONS, 16, d));
    }
  });
});
