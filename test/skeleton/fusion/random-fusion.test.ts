import assert from "node:assert/strict";
import { after, it } from "node:test";
import fc from "fast-check";
import { f32, f64, max, sum, table, u8 } from "isoform";
import { dense, type Container, type Field } from "../../../src/domain/index.js";
import { devices, type Scalar } from "../../../src/set/index.js";
import { share } from "../../random/share.js";
import { footprintOf } from "../../../src/skeleton/fusion/footprint.js";
import { fuse } from "../../../src/skeleton/fusion/fusion.js";
import { exchange, requireTemporary } from "../../../src/skeleton/fusion/sequence.js";

const set = await devices("js*2");
after(() => set.close());

const ACTIVE = (x: number, y: number) => (x - 2) ** 2 + (y - 3) ** 2 < 14;

const PERIODIC = [false, true, [true, false], [false, true]] as const;

const domain = fc.record({ holes: fc.boolean(), ends: fc.nat(PERIODIC.length - 1) });
type Domain = typeof domain extends fc.Arbitrary<infer T> ? T : never;

/** A new grid of 30 cells or fewer, with fields of all kinds whose values have no pattern. */
function playground({ holes, ends }: Domain) {
  const grid = dense(set, [5, 6], { active: holes ? ACTIVE : undefined, periodic: PERIODIC[ends] });
  const numbers = ["a", "b", "d"].map((name, n) => grid.field(name, f64, { fillValue: n === 2 ? 0.5 : 0 }));
  const pair = grid.field("pair", f64, { cardinality: 2 });
  const narrow = grid.field("narrow", f32);
  const bytes = grid.field("bytes", u8);
  const scalars = ["s", "t"].map((name) => grid.scalar(name, f64));
  [...numbers, pair, narrow].forEach((field, n) => field.fill((x, y, _, k) => Math.sin(1 + n + 5 * x + 11 * y + 3 * k)));
  bytes.fill((x, y) => (31 * x + 57 * y) % 256);
  scalars.forEach((scalar, n) => scalar.set(n + 0.25));
  return { grid, numbers, pair, narrow, bytes, scalars };
}
type Playground = ReturnType<typeof playground>;

/** Kinds of containers, each over two fields and a scalar. */
const KINDS: ((at: Playground, x: Field<"f64", 1, 2>, y: Field<"f64", 1, 2>, s: Scalar<"f64">, t: Scalar<"f64">) => Container)[] = [
  ({ grid }, x, y) => grid.container("map", { x, y, factor: 0.5 }, ({ x, y, factor }, c) => void (y[c] = factor * x[c]! + 0.125)),
  ({ grid }, x, y) => grid.container("double", { x, y }, ({ x, y }, c) => void (y[c] = 2 * x[c]!)),
  ({ grid }, x, y, s) =>
    grid.container("update", { x, y, s }, ({ x, y, s }, c) => {
      y[c] = 0.5 * y[c]! + (s / 64) * x[c]!;
    }),
  ({ grid }, x, y) =>
    grid.container("stencil", { x, y }, ({ x, y }, c) => {
      y[c] = 0.25 * (x.at(c, 1, 0) - x.at(c, -1, 0) + x.at(c, 0, 1) - x.at(c, 0, -1));
    }),
  ({ grid }, x, y) =>
    grid.container("upwind", { x, y }, ({ x, y }, c) => {
      if (x.at(c, 0, -1) > 0) y[c] = x[c]! - x.at(c, 0, -1);
    }),
  ({ grid }, x, y, s) => grid.container("dot", { x, y, s: sum(s) }, ({ x, y, s }, c) => s.add(x[c]! * y[c]!)),
  ({ grid }, x, _, s) => grid.container("greatest", { x, s: max(s) }, ({ x, s }, c) => s.max(x[c]!)),
  ({ grid }, x, y, s, t) =>
    grid.container("norms", { x, y, s: sum(s), t: max(t) }, ({ x, y, s, t }, c) => {
      y[c] = x[c]! * 0.75;
      if (c.x === 1) return;
      s.add(y[c]!);
      t.max(x[c]!);
    }),
  ({ grid }, x, y) =>
    grid.container("place", { x, y }, ({ x, y }, c) => {
      const value = x[c]!;
      y[c] = value > 0 ? c.x - 0.25 * c.y : value;
    }),
  ({ grid }, x, y) =>
    grid.container("edge", { x, y }, ({ x, y }, c) => {
      let sum = x[c]!;
      if (x.isActive(c, 1, 0)) sum += 1;
      y[c] = sum / 2;
    }),
  ({ grid, pair }, x, y) =>
    grid.container("split", { x, y, pair }, ({ x, y, pair }, c) => {
      pair[c]![0] = x[c]!;
      if (y[c]! > 0) pair[c]![1] = y[c]!;
    }),
  ({ grid, pair }, x, y) =>
    grid.container("join", { y, pair, w: table(f64, [0.5, 0.25]) }, ({ y, pair, w }, c) => {
      let total = 0.0;
      for (let k = 0; k < 2; k++) total += w[k]! * pair.at(c, -1, 1)[k]!;
      y[c] = total + 0.5 * pair[c]![1]!;
    }),
  ({ grid, pair }, x) => grid.container("first", { x, pair }, ({ x, pair }, c) => void (pair[c]![0] = 0.5 * x[c]! + 0.25)),
  ({ grid, pair }, x) => grid.container("second", { x, pair }, ({ x, pair }, c) => void (pair[c]![1] = 0.5 * x[c]! - 0.25)),
  ({ grid, pair }, _, y) => grid.container("beyond", { y, pair }, ({ y, pair }, c) => void (y[c] = 0.5 * pair.at(c, 0, 1)[1]!)),
  ({ grid, pair }, _, y) => grid.container("both", { y, pair }, ({ y, pair }, c) => void (y[c] = 0.5 * pair[c]![0]! - pair[c]![1]!)),
  ({ grid, pair }) =>
    grid.container("from the next", { pair }, ({ pair }, c) => {
      pair[c]![0] = 0.5 * pair.at(c, 0, 1)[1]! - 0.25 * pair.at(c, 1, 0)[1]!;
    }),
  ({ grid, narrow }, x, y) =>
    grid.container("round", { x, y, narrow }, ({ x, y, narrow }, c) => {
      narrow[c] = Math.fround(x[c]!);
      y[c] = 0.5 * narrow[c]!;
    }),
  ({ grid, narrow }, _, y) =>
    grid.container("around", { y, narrow }, ({ y, narrow }, c) => {
      y[c] = narrow[c]! - narrow.at(c, 1, 0);
    }),
  ({ grid, bytes }, x, y) =>
    grid.container("count", { x, y, bytes }, ({ x, y, bytes }, c) => {
      bytes[c] = 200 + bytes[c]! + (x[c]! > 0 ? 100 : 0);
      y[c] = +bytes[c]! / 256;
    }),
  ({ grid, bytes }, _, y) =>
    grid.container("look", { y, bytes }, ({ y, bytes }, c) => {
      y[c] = +(bytes.at(c, 1, 1) - bytes[c]!) / 512;
    }),
];

/** Every other one is a kind that fusion can do most with: double, update, stencil, dot. */
const kind = fc.oneof(fc.nat(KINDS.length - 1), fc.constantFrom(1, 2, 3, 5));
/** From 3 on, `x` is what the container before has written. */
const step = fc.record({ kind, x: fc.nat(5), y: fc.nat(1), s: fc.nat(1) });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function build(at: Playground, steps: readonly Step[]): Container[] {
  let [last] = at.numbers;
  return steps.map(({ kind, x, y, s }) => {
    const from = at.numbers[x] ?? last;
    const to = at.numbers.filter((field) => field !== from)[y];
    last = to;
    return KINDS[kind](at, from, to, at.scalars[s], at.scalars[1 - s]);
  });
}

/** Fields that the sequence sets before it uses them. */
const settable = ({ numbers, pair, narrow, bytes }: Playground, containers: readonly Container[]): Field[] =>
  [...numbers, pair, narrow, bytes].filter((field) => {
    if (!containers.some((container) => footprintOf(container).touches.has(field))) return false;
    try {
      requireTemporary(containers, [field]);
      return true;
    } catch {
      return false;
    }
  });

async function outcome(steps: readonly Step[], where: Domain, temporary: number | undefined): Promise<unknown[]> {
  const at = playground(where);
  const written = build(at, steps);
  const candidates = settable(at, written);
  const hidden = temporary === undefined ? [] : candidates.slice(0, temporary);
  const { containers, swaps } = temporary === undefined ? { containers: written, swaps: [] } : fuse(written, { temporary: hidden });
  for (let turn = 0; turn < 2; turn++) {
    for (const container of containers) await at.grid.run(container, { precision: "strict" });
    swaps.forEach(exchange);
  }
  const fields = [...at.numbers, at.pair, at.narrow, at.bytes];
  const values = await Promise.all(fields.map((field) => (hidden.includes(field) ? undefined : field.download())));
  const results = await Promise.all(at.scalars.map((scalar) => scalar.get()));
  at.grid.free();
  return [...values, ...results];
}

it("random sequences give the same bits, fused or not", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 7 }), domain, fc.nat(3), async (steps, where, temporary) => {
      const plain = await outcome(steps, where, undefined);
      const fused = await outcome(steps, where, temporary);
      const comparable = plain.map((value, n) => (fused[n] === undefined ? undefined : value));
      assert.deepEqual(fused, comparable);
    }),
    { numRuns: share(120), seed: 1, includeErrorInReport: true },
  );
});
