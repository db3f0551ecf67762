import assert from "node:assert/strict";
import test from "node:test";
import { segmentsOf, type Segment } from "../../../src/emit/wasm/statement-segments.js";
import { f32, f64, i32, kernel, open, range, view } from "../../../src/index.js";
import { define, localOf } from "../../../src/ir/by-name.js";
import type { Expr, Stmt } from "../../../src/ir/types.js";
import { index } from "../../../src/ir/expressions.js";

/* Long runs of assignments that are cut into blocks, and those that are not; numbers that are too many for the registers. */

const at = { file: "test", line: 1, column: 1 };
const load: Expr = { op: "load", type: "f64", view: "x", indices: [index(0)] };
const plus = (a: Expr, b: Expr): Expr => ({ op: "binary", type: "f64", fn: "add", a, b });
const read = (name: string): Stmt => define(name, load, at);
const sum = localOf("sum", "f64");
const adds = (value: Expr): Stmt => ({ kind: "assign", name: "sum", value: plus(sum, value), location: at });
const store = (value: Expr): Stmt => ({ kind: "store", view: "y", indices: [index(0)], value, location: at });
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const cut = (body: Stmt[]): readonly Segment[] => segmentsOf(body, () => true);

test("a long sum is cut into segments of a few loads that leave nothing out", () => {
  const body = [read("sum"), ...times(40, () => adds(load)), store(sum)];
  const segments = cut(body);
  assert.deepEqual(segments[0].from, 0);
  for (const [n, { to }] of segments.slice(0, -1).entries()) assert.equal(segments[n + 1].from, to);
  assert.equal(segments.at(-1)!.to, 41, "the store stands behind them");
  for (const { from, to } of segments.slice(0, -1)) assert.ok(to - from >= 4 && to - from <= 7, `${from} to ${to}`);
});

test("values that are used once more stay in their segment", () => {
  const pairs = times(12, (n) => [
    read(`a${n}`),
    read(`b${n}`),
    read(`c${n}`),
    adds(plus(localOf(`a${n}`, "f64"), localOf(`c${n}`, "f64"))),
  ]);
  const segments = cut([read("sum"), ...pairs.flat(), store(sum)]);
  assert.ok(segments.length > 4);
  assert.deepEqual(
    segments.flatMap(({ outliving }) => outliving),
    ["sum"],
  );
  for (const { to } of segments) assert.equal((to - 1) % 4, 0, "behind a sum");
});

test("what the registers hold is not cut, nor what many values cross", () => {
  assert.deepEqual(cut([read("sum"), ...times(15, () => adds(load)), store(sum)]), []);
  const names = times(24, (n) => `v${n}`);
  const lists = [...names.map(read), define("sum", load, at), ...names.map((name) => adds(localOf(name, "f64"))), store(sum)];
  assert.deepEqual(cut(lists), []);
  const lone = segmentsOf(lists, (name) => name === "sum");
  assert.ok(lone.length > 0, "other locals than vectors do not count");
});

test("a long calculation with few loads is left whole", () => {
  const body = (loads: number) => [
    read("sum"),
    read("a"),
    ...times(loads - 2, () => adds(load)),
    ...times(200, () => adds(localOf("a", "f64"))),
    store(sum),
  ];
  assert.deepEqual(cut(body(16)), []);
  assert.ok(cut(body(17)).length > 0);
});

test("a long calculation is cut although many values cross", () => {
  const names = times(24, (n) => `v${n}`);
  const rounds = times(8, () => names.map((name) => adds(localOf(name, "f64")))).flat();
  const body = [...names.map(read), define("sum", load, at), ...rounds, store(sum)];
  const segments = cut(body);
  assert.equal(segments[0].from, 0);
  for (const [n, { to }] of segments.slice(0, -1).entries()) assert.equal(segments[n + 1].from, to);
  for (const { from, to } of segments.slice(0, -1)) assert.ok(to - from >= 20 && to - from <= 60, `${from} to ${to}`);
  assert.equal(segments.at(-1)!.to, body.length - 1, "the store stands behind them");
});

const SIZE = 19;

const stencil = kernel(
  "stencil with sides",
  { kind: view(i32, 2), x: view(f64, 2), y: view(f64, 2), z: view(f64, 2) },
  ({ kind, x, y, z }, i, j) => {
    let [a, b] = [0.5, x[i][j]];
    if (kind[i][j] > 0)
      for (let di = -2; di <= 2; di++) {
        let row = 0.0;
        for (let dj = -2; dj <= 2; dj++) {
          const value = x[i + di][j + dj];
          row += (0.3 - 0.1 * dj) * value;
          b -= (di + 0.2) * value;
        }
        a += row;
      }
    else for (let di = -2; di <= 2; di++) for (let dj = -2; dj <= 2; dj++) a -= 0.01 * x[i + dj][j + di];
    y[i][j] = a;
    z[i][j] = b;
  },
);

for (const precision of ["strict", "fast"] as const)
  test(`a stencil of 25 points under masks gives the ${precision === "strict" ? "bits" : "values"} of js`, async () => {
    const [expected, found] = await Promise.all(["js", "wasm"].map((name) => results(name, precision)));
    for (const [n, value] of expected.entries())
      if (precision === "strict") assert.equal(found[n], value);
      else assert.ok(Math.abs(found[n] - value) <= 1e-14 * 25);
  });

async function results(name: string, precision: "strict" | "fast"): Promise<number[]> {
  const device = await open(name);
  const kind = device.array(i32, [SIZE, SIZE]);
  const [x, y, z] = [1, 2, 3].map(() => device.array(f64, [SIZE, SIZE]));
  device.queue.write(
    kind,
    Int32Array.from({ length: SIZE * SIZE }, (_, n) => ((n % 7) * (n % 3)) % 4),
  );
  device.queue.write(
    x,
    Float64Array.from({ length: SIZE * SIZE }, (_, n) => Math.sin(n)),
  );
  const inside = [2, SIZE - 2] as const;
  const launch = device.prepare(stencil, { kind, x, y, z }, range(inside, inside), { precision });
  device.queue.submit(launch);
  const found = [...(await device.queue.read(y)), ...(await device.queue.read(z))];
  for (const used of [launch, kind, x, y, z]) used.free();
  await device.close();
  return found;
}

const weights = kernel("many weights", { x: view(f32), y: view(f32) }, ({ x, y }, i) => {
  let sum = Math.fround(0.3);
  for (let k = 0; k < 12; k++) sum = Math.fround(sum + Math.fround((0.1 + k * k) * x[i + k]));
  y[i] = sum;
});

test("many different numbers of f32 give the bits of js", async () => {
  const found = [];
  for (const name of ["js", "wasm"]) {
    const device = await open(name);
    const x = device.from(
      f32,
      Float32Array.from({ length: 60 }, (_, n) => Math.sin(n)),
    );
    const y = device.array(f32, [48]);
    const launch = device.prepare(weights, { x, y }, range(48), { precision: "strict" });
    device.queue.submit(launch);
    found.push(await device.queue.read(y));
    for (const used of [launch, x, y]) used.free();
    await device.close();
  }
  assert.deepEqual(found[1], found[0]);
});
