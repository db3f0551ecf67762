import assert from "node:assert/strict";
import { it } from "node:test";
import {
  axpy,
  copy,
  dot,
  fill,
  norm1,
  norm2,
  normMax,
  scale,
  type Container,
  type FieldToken,
  type Grid,
} from "../../../src/domain/index.js";
import { f32, f64, i32, type ScalarToken } from "../../../src/kernel/declare/params.js";
import { u8 } from "../../../src/kernel/declare/storage.js";
import { skeleton } from "../../../src/skeleton/index.js";
import { KINDS, sphere } from "../kinds.js";
import { sample } from "../../random/share.js";
import { jsSet, noise, onEachBackend } from "../sets.js";

const EXTENTS = [17, 9, 13] as const;
const strict = { precision: "strict" } as const;

interface Case {
  readonly element: FieldToken;
  readonly result: ScalarToken<"f64" | "f32" | "i32">;
  readonly cardinality: number;
  /** Rounds to the element's type. */
  readonly round: (value: number) => number;
}
const CASES: readonly Case[] = [
  { element: f64, result: f64, cardinality: 3, round: (v) => v },
  { element: f32, result: f64, cardinality: 1, round: Math.fround },
  { element: f32, result: f32, cardinality: 2, round: Math.fround },
  { element: i32, result: i32, cardinality: 1, round: Math.trunc },
  { element: u8, result: i32, cardinality: 2, round: (v) => Math.trunc(v) & 255 },
];

await onEachBackend("fields as vectors", ({ backend, some, of }) => {
  // What takes a C compiler takes long.
  const cases = backend === "native" ? CASES.slice(0, 2) : CASES;
  for (const set of backend === "native" ? [of(3)] : some([1, 3]).map(of))
    for (const [kind, make] of Object.entries(KINDS))
      it(`${kind} on ${set.members.length}`, async () => {
        const grid = make(set, EXTENTS, sphere);
        for (const each of sample(cases)) await agree(grid, each);
        grid.free();
      });
});

/** Every container, against the same on host arrays; multiples of 1/8, which no sum rounds. */
async function agree(grid: Grid, { element, result, cardinality, round }: Case): Promise<void> {
  const [x, y] = ["x", "y"].map((name) => grid.field(name, element, { cardinality }));
  const [a, total, largest, length, sum] = ["a", "total", "largest", "length", "sum"].map((name) => grid.scalar(name, result));
  const start = (seed: number) => (cx: number, cy: number, cz: number, k: number) =>
    round(Math.round(64 * noise(cx, cy, cz, k, seed)) / 8) || 1;
  x.fill(start(1));
  y.fill(start(2));
  a.set(2);
  const active = (await x.download()).map((value) => (value === 0 ? 0 : 1));
  const [u, v] = [Array.from(await x.download()), Array.from(await y.download())];
  const each = (f: (n: number) => number) => u.map((_, n) => (active[n] ? round(f(n)) : 0));
  const run = (container: Container) => grid.run(container, strict);

  await run(axpy(3, x, y));
  const w = each((n) => 3 * u[n] + v[n]);
  assert.deepEqual(Array.from(await y.download()), w, "axpy by a number");
  await run(axpy(a, x, y));
  const z = each((n) => 2 * u[n] + w[n]);
  assert.deepEqual(Array.from(await y.download()), z, "axpy by a scalar");
  await run(scale(a, x));
  assert.deepEqual(Array.from(await x.download()), (u.forEach((value, n) => (u[n] = round(2 * value))), u), "scale");

  await run(dot(x, y, total));
  const expected = u.reduce((all, value, n) => all + value * z[n], 0);
  const close = (found: number, wanted: number) =>
    assert.ok(Math.abs(found - wanted) <= 1e-5 * Math.abs(wanted) + 1e-3, `${found} ${wanted}`);
  close(await total.get(), expected);
  await run(norm1(y, sum));
  close(
    await sum.get(),
    z.reduce((all, value) => all + Math.abs(value), 0),
  );
  await run(normMax(y, largest));
  assert.equal(await largest.get(), Math.max(...z.map(Math.abs)));
  for (const container of norm2(y, length)) await run(container);
  close(await length.get(), (element === i32 || element === u8 ? Math.trunc : (r: number) => r)(Math.hypot(...z)));

  await run(copy(y, x));
  assert.deepEqual(await x.download(), await y.download(), "copy");
  await run(fill(7, x));
  assert.deepEqual(
    Array.from(await x.download()),
    each(() => 7),
    "fill by a number",
  );
  await run(fill(a, x));
  assert.deepEqual(
    Array.from(await x.download()),
    each(() => 2),
    "fill by a scalar",
  );
  for (const made of [x, y]) made.free();
}

it("they convert to the type of what they write", async () => {
  const grid = KINDS.dense(jsSet(2), EXTENTS, undefined);
  const [fine, coarse, whole] = [grid.field("fine", f64), grid.field("coarse", f32), grid.field("whole", i32)];
  fine.fill(0.1);
  for (const [from, to] of [
    [fine, coarse],
    [coarse, whole],
  ] as const)
    await grid.run(copy(from, to));
  assert.equal(await coarse.get([1, 1, 1]), Math.fround(0.1));
  assert.equal(await whole.get([1, 1, 1]), 0);
});

it("they fuse like containers that one writes", async () => {
  const grid = KINDS.dense(jsSet(1), EXTENTS, undefined);
  const [x, y] = ["x", "y"].map((name) => grid.field(name, f64, { cardinality: 2 }));
  const [a, total, most] = ["a", "total", "most"].map((name) => grid.scalar(name, f64));
  x.fill(1);
  y.fill(1);
  const text = await skeleton(grid.set, "vectors", [scale(2, x), axpy(a, x, y), dot(x, y, total), normMax(y, most)]).explain();
  assert.match(text, /Tasks in the order of launches: .*\n +1 .* scale \+ axpy \+ dot \+ normMax *\n*/);
  assert.doesNotMatch(text, /\n +2 +stream/);
});

it("what does not fit is refused with the author's line", () => {
  const grid = KINDS.dense(jsSet(1), EXTENTS, undefined);
  const other = KINDS.dense(jsSet(1), EXTENTS, undefined);
  const [x, u, n] = [grid.field("x", f64), grid.field("u", f64, { cardinality: 3 }), grid.field("n", i32)];
  const here = /container "[a-z0-9]+", [^ ]*test[/\\]domain[/\\]container[/\\]vectors\.test\.ts:\d+:\d+: /;
  for (const [make, problem] of [
    [() => axpy(1, u, x), /field "x" has 1 components and the field "u" 3 \(give fields of one cardinality\)/],
    [() => copy(x, other.field("q", f64)), /field "q" belongs to another grid/],
    [() => scale(0.5, n), /field "n" holds whole numbers and is given 0\.5/],
  ] as const) {
    assert.throws(make, problem);
    assert.throws(make, here);
  }
});
