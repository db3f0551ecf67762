import assert from "node:assert/strict";
import fc from "fast-check";
import { assign, f32, f64, max, min, sum } from "isoform";
import {
  dense,
  face,
  parity,
  roll,
  slab,
  type AxisArray,
  type AxisName,
  type Container,
  type Field,
  type Region,
  type Split,
} from "../../src/domain/index.js";
import type { DeviceSet, Scalar } from "../../src/set/index.js";
import { every, OCC_LEVELS, skeleton, swap, type SkeletonOptions, type Step, type Swap } from "../../src/skeleton/index.js";
import { exchange } from "../../src/skeleton/fusion/sequence.js";
import { noise } from "../domain/noise.js";
import type { DrawnCase } from "./drawn-case.js";

/*
 * Random sequences on boxes of three dimensions that are cut along y, or y and z: what random-sequences.ts has for cuts along the last axis.
 */

type Plain = Field<"f64", 1, 3>;
const AXES: readonly (readonly AxisName[])[] = [["x"], ["y"], ["z"], ["x", "y"], ["x", "z"], ["y", "z"]];

const domain = fc.record({ ends: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()), holes: fc.boolean(), ghosts: fc.boolean() });
type Domain = typeof domain extends fc.Arbitrary<infer T> ? T : never;

/** A domain, and the extents of its box. */
interface Where extends Domain {
  readonly extents: readonly [number, number, number];
}

function playground(set: DeviceSet, { extents, ends, holes, ghosts }: Where, split?: Split) {
  const grid = dense(set, extents, {
    periodic: ends,
    split,
    ...(holes && { active: (x, y, z) => noise(x, y, z) > -0.7 }),
    ...(ghosts && { ghosts: 2 }),
  });
  const plain = ["a", "b", "d"].map((name) => grid.field(name, f64, { fillValue: 0.5 }) as unknown as Plain);
  const pair = grid.field("pair", f64, { cardinality: 2, fillValue: -0.25 }) as unknown as Field<"f64", 2, 3>;
  const trio = grid.field("trio", f32, { cardinality: 3, layout: "aos", fillValue: 0.75 }) as unknown as Field<"f32", 3, 3>;
  const [s, t] = ["s", "t"].map((name) => grid.scalar(name, f64));
  const all = [...plain, pair, trio] as unknown as Field[];
  const arrays = AXES.map((axes) => grid.field(`along ${axes.join(" and ")}`, f64, { axes: axes as ["x"], cardinality: 2 }));
  const lows = AXES.map((axes) => grid.field(`low along ${axes.join(" and ")}`, f64, { axes: axes as ["x"] }));
  const start = (): void => {
    all.forEach((field, n) => field.fill((x, y, z, k) => Math.fround(noise(n, x, y, z, k)), { ghosts: true }));
    [s, t].forEach((scalar, n) => scalar.set(n + 0.25));
    [...arrays, ...lows].forEach((array, n) => array.set((a, b) => 0.125 * a - 0.25 * b + n));
  };
  const results = async (): Promise<unknown[]> => [
    ...(await Promise.all(all.map(async (field) => [...(await field.download({ ghosts: true }))]))),
    ...(await Promise.all([s, t].map((scalar) => scalar.get()))),
    ...(await Promise.all([...arrays, ...lows].map(async (array) => [...(await array.download())]))),
  ];
  return { grid, pair, trio, plain, s, t, arrays, lows, start, results };
}
type Playground = ReturnType<typeof playground>;

/** Copies cells of `x` to other places in `y`; halves `x` on grids with inactive cells, which have no rolls. */
function rolled({ grid }: Playground, x: Plain, y: Plain, shift: readonly number[], on: readonly Region[]): Container {
  const [from, to] = [x, y] as unknown as Field[];
  if (grid.activity.isFull) return roll(from, to, shift, { on });
  return grid.container("halve", { x }, ({ x }, c) => void (x[c] *= 0.5));
}

const STEPS: ((at: Playground, x: Plain, y: Plain, s: Scalar<"f64">) => Container | Swap)[] = [
  (_, x, y) => swap(x as unknown as Field, y as unknown as Field),
  ({ grid }, x, y) => grid.container("map", { x, y }, ({ x, y }, c) => void (y[c] = 0.5 * x[c] + 0.125 * c.y - 0.25 * c.z)),
  ({ grid }, x, y) =>
    grid.container("along y", { x, y }, ({ x, y }, c) => {
      y[c] = 0.25 * (x.at(c, 0, 1, 0) - x.at(c, 0, -2, 0)) + 0.125 * x[c];
    }),
  ({ grid }, x, y) =>
    grid.container("along z", { x, y }, ({ x, y }, c) => {
      y[c] = 0.25 * (x.at(c, 0, 0, 1) - x.at(c, 1, 0, -1));
    }),
  ({ grid }, x, y) =>
    grid.container("corners", { x, y }, ({ x, y }, c) => {
      y[c] = 0.25 * (x.at(c, 0, 1, 1) - x.at(c, 0, -1, 1) + x.at(c, 1, 1, -1)) + (x.isActive(c, 0, -1, -1) ? 0.125 : -0.125);
    }),
  ({ grid }, x, y, s) => grid.container("dot", { x, y, s: sum(s) }, ({ x, y, s }, c) => s.add(x[c] * y[c])),
  ({ grid, t }, x, y, s) =>
    grid.container("flow", { x, y, s: sum(s), t: max(t) }, ({ x, y, s, t }, c) => {
      y[c] = 0.75 * x.at(c, 0, 1, 0);
      s.add(x.at(c, 0, -1, 1) * y[c]);
      t.max(x[c]);
    }),
  ({ grid }, x, y, s) =>
    grid.container("update", { x, y, s }, ({ x, y, s }, c) => {
      y[c] = 0.5 * y[c] + (s / 4096) * x[c];
    }),
  ({ grid, pair, trio }) =>
    grid.container("pull", { pair, trio }, ({ pair, trio }, c) => {
      trio[c][2] = Math.fround(0.25 * (pair.at(c, 0, 1, 0)[0] - pair.at(c, 0, 0, -1)[1]));
      trio[c][0] = Math.fround(0.5 * pair.at(c, 0, -1, -1)[1]);
    }),
  ({ grid, pair, trio }, x) =>
    grid.container("push", { pair, trio, x }, ({ pair, trio, x }, c) => {
      pair[c][0] = 0.5 * trio.at(c, 0, 1, 1)[2] + 0.25 * x[c];
      pair[c][1] = 0.5 * trio.at(c, 0, -1, 0)[1] - 0.25 * trio[c][0];
    }),
  ({ grid }, x, y, s) =>
    grid.container(
      "part",
      { x, y, s: min(s) },
      ({ x, y, s }, c) => {
        y[c] = 0.5 * x.at(c, 0, 1, 1) - 0.25 * x.at(c, 1, -1, 0);
        s.min(y[c]);
      },
      undefined,
      { on: [slab("y", 3, 19), slab("z", 2, 8)] },
    ),
  ...([0, 1] as const).map((of) => ({ grid }: Playground, x: Plain, y: Plain): Container => {
    // An odd number of planes has no two parities around a ring.
    const up = grid.periodic[2] ? 0 : 1;
    return grid.container(
      `relax ${of}`,
      { x, y },
      ({ x, y }, c) => {
        x[c] = 0.25 * (x.at(c, 0, 1, 0) - x.at(c, 0, -1, 0)) + 0.25 * x.at(c, 0, 0, up) - 0.125 * y[c];
      },
      () => [up],
      { on: parity(of) },
    );
  }),
  ({ grid }, x) => {
    const layers = grid.ghosts[1][1];
    return grid.container(
      "wall",
      { x },
      ({ x }, c) => {
        x[c] = 0.5 * x[c] + 0.25 * x.at(c, 1, -1, 0);
        for (let l = 1; l <= layers; l++) x.put(c, 0, l, 0, 0.5 * x.at(c, 0, 1 - l, 0));
      },
      () => [layers],
      { on: face("ymax") },
    );
  },
  ...AXES.map((_, n) => ({ grid, arrays, lows }: Playground, x: Plain, y: Plain): Container => {
    const [into, on] = [arrays[n], [{}, { on: [slab("y", 5, 26), slab("z", 1, 8)] }][n % 2]];
    return grid.container(
      "fold",
      { x, y, low: min(lows[n]), total: sum(into, { components: [1, 2], accumulate: n > 2 }) },
      ({ x, y, low, total }, c) => {
        low.min(x[c] - y.at(c, 0, 1, 0));
        total.add(0, 0.0078125 * x.at(c, 0, -1, 1));
      },
      undefined,
      on,
    );
  }),
  ({ grid, arrays }, x, y) => {
    const [profile, sheet] = [arrays[1], arrays[4] as unknown as AxisArray<"f64", 2, 2>];
    return grid.container("from arrays", { x, y, profile, sheet }, ({ x, y, profile, sheet }, c) => {
      y[c] = 0.5 * y[c] + 0.0625 * profile[c][1] + 0.03125 * sheet[c][0] - 0.25 * x.at(c, 0, 0, 1);
    });
  },
  (at, x, y) => rolled(at, x, y, [1, 7, -2], [slab("x", 1, 3), slab("y", 8, 24), slab("z", 1, 6)]),
  (at, x) => rolled(at, x, x, [0, -9, 3], [slab("y", 2, 15), slab("z", 3, 9)]),
  ({ grid, t }, _, __, s) => grid.scalarStep("mix", { s: assign(s), t }, ({ s, t }) => s.set(0.5 * s.get() + 0.25 * t)),
];

const step = fc.record({
  kind: fc.nat(STEPS.length - 1),
  x: fc.nat(2),
  y: fc.nat(1),
  when: fc.option(fc.record({ n: fc.constantFrom(2, 3), phase: fc.nat(1) }), { nil: undefined }),
});
type Draw = typeof step extends fc.Arbitrary<infer T> ? T : never;

const way = fc.record({
  members: fc.constantFrom(2, 3, 4),
  split: fc.constantFrom("y", "yz"),
  occ: fc.constantFrom(...OCC_LEVELS),
  fuse: fc.boolean(),
  unroll: fc.integer({ min: 1, max: 2 }),
});

const build = (at: Playground, draws: readonly Draw[]): (Container | Swap)[] =>
  draws.map(({ kind, x, y }) => STEPS[kind](at, at.plain[x], at.plain.filter((_, n) => n !== x)[y], at.s));

async function meaning(draws: readonly Draw[], where: Where, one: DeviceSet): Promise<unknown[]> {
  const at = playground(one, where);
  const steps = build(at, draws);
  at.start();
  for (let turn = 0; turn < 4; turn++)
    for (const [n, made] of steps.entries()) {
      const { when } = draws[n];
      if (when && turn % when.n !== when.phase) continue;
      if ("swap" in made) exchange(made.swap);
      else await at.grid.run(made, { precision: "strict" });
    }
  return at.results();
}

/** How a sequence runs on a set. */
interface Way extends SkeletonOptions {
  readonly split: Split;
}

async function outcome(draws: readonly Draw[], set: DeviceSet, where: Where, { split, ...options }: Way): Promise<unknown[]> {
  const at = playground(set, where, split);
  const steps = build(at, draws).map((made, n): Step => {
    const { when } = draws[n];
    return when ? every(when.n, [made], { phase: when.phase }) : made;
  });
  at.start();
  const all = skeleton(set, "random", steps, { ...options, precision: "strict" });
  await all.run(3);
  await all.run(1);
  const results = await at.results();
  all.free();
  at.grid.free();
  return results;
}

const sequence = fc.array(step, { minLength: 2, maxLength: 5 }).filter((draws) => draws.some(({ kind }) => kind !== 0));

const domainOf = ({ ghosts, holes, ...rest }: Domain, extents: Where["extents"]): Where => ({
  ...rest,
  holes: holes && !ghosts,
  ghosts,
  extents,
});

/**
 * Random sequences on sets of some members, in three ways each, against their meaning.
 * @param setOf the set of so many members: 1, 2, 3 or 4
 */
export const agree = (setOf: (members: number) => DeviceSet, { numRuns, seed }: { numRuns: number; seed: number }): Promise<void> =>
  fc.assert(
    fc.asyncProperty(sequence, domain, fc.array(way, { minLength: 3, maxLength: 3 }), async (draws, drawn, ways) => {
      const where = domainOf(drawn, [3, 26, 9]);
      const expected = await meaning(draws, where, setOf(1));
      for (const { members, ...options } of ways)
        assert.deepEqual(await outcome(draws, setOf(members), where, options), expected, JSON.stringify({ members, ...options }));
    }),
    { numRuns, seed, includeErrorInReport: true },
  );

/** The sequence of a seed, for programs that draw the same on several ranks, on a box that is large enough for eight members. */
export function drawnOnBox(seed: number, split: Split): DrawnCase {
  const [[draws, drawn, { fuse, unroll }]] = fc.sample(fc.tuple(sequence, domain, way), { seed, numRuns: 1 });
  const where = domainOf(drawn, split === "y" ? [3, 67, 9] : [3, 43, 13]);
  return {
    meaning: (one) => meaning(draws, where, one),
    outcome: (set, occ) => outcome(draws, set, where, { occ, fuse, unroll, split }),
  };
}
