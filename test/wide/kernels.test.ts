import assert from "node:assert/strict";
import { it } from "node:test";
import type { Device } from "../../src/device/device.js";
import { range, teams } from "../../src/device/launch/policy.js";
import { structArraysFrom } from "../../src/device/struct-arrays.js";
import { kernel, teamKernel } from "../../src/kernel/declare/kernel.js";
import { list } from "../../src/device/launch/list-param.js";
import { f32, fixed, i32, i64, max, min, reducer, scatter, sum, table, u64, view } from "../../src/kernel/declare/params.js";
import { struct } from "../../src/kernel/declare/struct.js";
import { eachDevice } from "../patterns/devices.js";

/** Numbers of all magnitudes, with and without a sign. */
function numbers(n: number): bigint[] {
  let state = 88172645463325252n;
  return Array.from({ length: n }, () => {
    state ^= BigInt.asUintN(64, state << 13n);
    state ^= state >> 7n;
    state ^= BigInt.asUintN(64, state << 17n);
    return BigInt.asIntN(64, state) >> BigInt(Number(state & 31n));
  });
}

const LENGTH = 1003;
const X = numbers(LENGTH);
const U = X.map((x) => BigInt.asUintN(64, x * 31n));
const least = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a < b ? a : b));
const greatest = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a > b ? a : b));
const signed = (value: bigint): bigint => BigInt.asIntN(64, value);
const unsigned = (value: bigint): bigint => BigInt.asUintN(64, value);

const folds = kernel(
  "folds",
  { x: view(i64), u: view(u64), s: sum(i64), t: sum(u64), least: min(i64), most: max(u64), p: reducer(u64, 1n, (a, b) => a * b) },
  ({ x, u, s, t, least, most, p }, i) => {
    s.add(x[i]);
    t.add(u[i]);
    least.min(x[i]);
    most.max(u[i]);
    p.merge(BigInt.asUintN(64, u[i] | 1n));
  },
);
const several = kernel("several", { x: view(i64), s: sum(i64, 2) }, ({ x, s }, i) => {
  s.add(0, x[i]);
  s.add(1, BigInt.asIntN(64, x[i] * x[i]));
});
const scatters = kernel(
  "scatters",
  { x: view(i64), u: view(u64), s: scatter(i64), a: scatter(i64, 1, "min"), b: scatter(u64, 1, "max") },
  ({ x, u, s, a, b }, i) => {
    s.add(i % 7, x[i]);
    a.min(i % 5, x[i]);
    b.max(i % 3, u[i]);
  },
);

/** Rounds of xorshift on a local that a loop assigns, a private array, a table and a constant. */
const ROUNDS = table(u64, [13n, 7n, 17n]);
const SEED = 0x9e3779b97f4a7c15n;
const rotated = (x: bigint, n: bigint): bigint => BigInt.asUintN(64, (x << n) | (x >> BigInt.asUintN(64, 64n - n)));
const hashes = kernel(
  "hashes",
  { turns: fixed(i32), u: view(u64), h: view(u64), c: view(i32) },
  ({ turns, u, h, c }, i) => {
    const words = new BigUint64Array(4);
    words[i % 4] = u[i];
    let state = BigInt.asUintN(64, SEED ^ BigInt(i >>> 0));
    for (let k = 0n; k < 3n; k++) state = BigInt.asUintN(64, state + BigInt.asUintN(64, k));
    for (let t = 0; t < turns; t++) {
      state ^= BigInt.asUintN(64, state << ROUNDS[0]);
      state ^= state >> ROUNDS[1];
      state = rotated(state, ROUNDS[2]);
      state ^= words[t % 4];
    }
    h[i] = state;
    c[i] = Number(BigInt.asUintN(16, state)) | 0;
  },
  () => [ROUNDS, SEED, rotated],
);
function hash(u: bigint, i: number, turns: number): bigint {
  let state = unsigned(SEED ^ BigInt(i)) + 3n;
  for (let t = 0; t < turns; t++) {
    state ^= unsigned(state << 13n);
    state ^= state >> 7n;
    state = unsigned((state << 17n) | (state >> 47n));
    if (t % 4 === i % 4) state ^= u;
  }
  return state;
}

const Row = struct("Row", { key: u64, count: i64, at: i32 });
const rows = kernel(
  "rows",
  { first: Row, rows: view(Row), by: i64 },
  ({ first, rows, by }, i) => {
    const { key, count, at } = rows[i];
    rows[i] = Row({ key: BigInt.asUintN(64, key ^ first.key), count: BigInt.asIntN(64, count * by), at: at + 1 });
    if (key > first.key) rows[i].count = first.count;
  },
  () => [Row],
);
const near = kernel("near", { x: view(i64), found: list(i64) }, ({ x, found }, i) => {
  if (x[i] > 0n) found.push(x[i]);
});
const through = teamKernel("through", { x: view(i64, 2), y: view(i64, 2) }, ({ x, y }, team) => {
  const held = team.scratch("i64", 8);
  team.range(8, (j) => {
    held[j] = x[team.index][j];
  });
  team.range(8, (j) => {
    y[team.index][j] = BigInt.asIntN(64, held[7 - j] - held[j]);
  });
});

async function read(device: Device, of: object): Promise<unknown[]> {
  return Array.from((await device.queue.read(of as never)) as ArrayLike<unknown>);
}

await eachDevice("64-bit integers", (device) => {
  it("fold to the exact sums modulo 2^64, the least and the greatest", async () => {
    device.precision = "strict";
    const [x, u] = [device.from(i64, X), device.from(u64, U)];
    if (device.name === "js-debug") return;
    const found = await device.run(folds, { x, u }, range(LENGTH));
    const product = U.reduce((a, b) => unsigned(a * (b | 1n)), 1n);
    const sums = [signed(X.reduce((a, b) => a + b)), unsigned(U.reduce((a, b) => a + b))];
    assert.deepEqual(found, { s: sums[0], t: sums[1], least: least(X), most: greatest(U), p: product });
    const from = await device.run(folds, { x, u, s: 5n, least: -(2n ** 63n) }, range(LENGTH));
    assert.deepEqual([from.s, from.least], [signed(sums[0] + 5n), -(2n ** 63n)]);
    const none = await device.run(folds, { x, u }, range(0));
    assert.deepEqual(none, { s: 0n, t: 0n, least: 2n ** 63n - 1n, most: 0n, p: 1n });
    const s = device.array(i64, 2);
    await device.run(several, { x, s }, range(LENGTH));
    assert.deepEqual(await read(device, s), [sums[0], signed(X.reduce((a, b) => a + b * b, 0n))]);
  });
  it("scatter", async () => {
    if (device.name === "js-debug") return;
    const start = [2n ** 63n - 1n, 0n];
    const [s, a, b] = [device.array(i64, 7), device.from(i64, Array<bigint>(5).fill(start[0])), device.array(u64, 3)];
    await device.run(scatters, { x: device.from(i64, X), u: device.from(u64, U), s, a, b }, range(LENGTH));
    const of = (list: readonly bigint[], n: number, k: number): bigint[] => list.filter((_, i) => i % n === k);
    assert.deepEqual(
      await read(device, s),
      Array.from({ length: 7 }, (_, k) => signed(of(X, 7, k).reduce((p, q) => p + q))),
    );
    assert.deepEqual(
      await read(device, a),
      Array.from({ length: 5 }, (_, k) => least(of(X, 5, k))),
    );
    assert.deepEqual(
      await read(device, b),
      Array.from({ length: 3 }, (_, k) => greatest(of(U, 3, k))),
    );
  });
  it("are locals, loop counters, private arrays, tables, captures and arguments of helpers", async () => {
    const [h, c] = [device.array(u64, LENGTH), device.array(i32, LENGTH)];
    await device.run(hashes, { turns: 9, u: device.from(u64, U), h, c }, range(LENGTH));
    const expected = U.map((u, i) => hash(u, i, 9));
    assert.deepEqual(await read(device, h), expected);
    assert.deepEqual(
      await read(device, c),
      expected.map((state) => Number(state & 0xffffn)),
    );
  });
  it("are fields of records", async () => {
    const list = Array.from({ length: 9 }, (_, i) => Row({ key: U[i], count: X[i], at: i }));
    const arrays = structArraysFrom(device, Row, list);
    const first = Row({ key: U[4], count: -9n, at: 0 });
    await device.run(rows, { first, rows: arrays, by: 3n }, range(9));
    assert.deepEqual(
      await read(device, arrays.key),
      list.map(({ key }) => key ^ U[4]),
    );
    assert.deepEqual(
      await read(device, arrays.count),
      list.map(({ key, count }) => (key > U[4] ? -9n : signed(count * 3n))),
    );
  });
  it("are appended to lists", async () => {
    const found = device.list(i64, LENGTH);
    const { found: count } = await device.run(near, { x: device.from(i64, X), found }, range(LENGTH));
    const expected = X.filter((x) => x > 0n);
    assert.deepEqual((await read(device, found.view)).slice(0, count), expected);
  });
  it("are in a team's scratch", async () => {
    const y = device.array(i64, [3, 8]);
    await device.run(through, { x: device.from(i64, X.slice(0, 24), [3, 8]), y }, teams(3));
    assert.deepEqual(
      await read(device, y),
      X.slice(0, 24).map((x, n) => signed(X[n - (n % 8) + 7 - (n % 8)] - x)),
    );
  });
  it("are written while the device is busy", { skip: device.backend === "js-debug" && "it takes too long" }, async () => {
    const slow = kernel("slow", { x: view(f32) }, ({ x }, i) => {
      let sum = x[i];
      for (let k = 0; k < 400_000; k++) sum = Math.fround(sum * Math.fround(0.999) + Math.fround(k % 7));
      x[i] = sum;
    });
    const [x, y] = [device.array(f32, 256), device.array(i64, LENGTH)];
    const given = BigInt64Array.from(X);
    const done = device.run(slow, { x }, range(256));
    device.queue.write(y as never, given as never);
    given.fill(0n);
    await done;
    assert.deepEqual(await read(device, y), X);
  });
  it("are no values of other types, also in arrays of bigints", () => {
    for (const type of [f32, i32] as const)
      assert.throws(() => device.from(type, BigInt64Array.of(1n) as never), /value 0 is a bigint: give numbers/);
    const y = device.array(i32, 1);
    assert.throws(() => device.queue.write(y, BigUint64Array.of(1n) as never), /value 0 is a bigint: give numbers/);
  });
  it("are refused in tables and as neutral elements where the type does not hold them", () => {
    assert.throws(() => table(u64, [-1n]), /table\(\.\.\.\) .* of u64 has the value -1n; give bigints, from 0n to 18446744073709551615n/);
    assert.throws(() => table(i64, [2n ** 63n]), /of i64 has the value 9223372036854775808n/);
    assert.throws(() => reducer(u64, -1n, (a, b) => a * b), /is given -1n for its neutral element; use bigints, from 0n/);
  });
});
