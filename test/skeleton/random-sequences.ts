import assert from "node:assert/strict";
import fc from "fast-check";
import { assign, f32, f64, max, min, sum } from "isoform";
import { face, parity, slab, type Container, type Field } from "../../src/domain/index.js";
import type { DeviceSet, Scalar } from "../../src/set/index.js";
import { every, OCC_LEVELS, skeleton, swap, type SkeletonOptions, type Step, type Swap } from "../../src/skeleton/index.js";
import { exchange } from "../../src/skeleton/fusion/sequence.js";
import { KINDS, type Active } from "../domain/grid-kinds.js";
import { noise } from "../domain/noise.js";
import type { DrawnCase } from "./drawn-case.js";

/** Whole bricks along each axis. */
const EXTENTS = [12, 30];
const PERIODIC = [false, true, [true, false], [false, true]] as const;
const SHAPES: readonly (Active | undefined)[] = [undefined, (x, y) => 5 * (x - 4) ** 2 + (y - 14) ** 2 < 190, (x, y) => noise(x, y) > -0.4];

const domain = fc.record({ shape: fc.nat(SHAPES.length - 1), ends: fc.nat(PERIODIC.length - 1), ghosts: fc.boolean() });
type Domain = typeof domain extends fc.Arbitrary<infer T> ? T : never;

type Kind = keyof typeof KINDS;
type Plain = Field<"f64", 1, 2>;

/** A grid with fields and scalars whose values have no pattern. */
function playground(set: DeviceSet, kind: Kind, { shape, ends, ghosts }: Domain) {
  // The others have none.
  const grid = KINDS[ghosts ? "dense" : kind](set, EXTENTS, SHAPES[shape], { periodic: PERIODIC[ends], ...(ghosts ? { ghosts: 2 } : {}) });
  const plain = ["a", "b", "d"].map((name) => grid.field(name, f64, { fillValue: 0.5 }) as unknown as Plain);
  const pair = grid.field("pair", f64, { cardinality: 2, fillValue: -0.25 }) as unknown as Field<"f64", 2, 2>;
  const trio = grid.field("trio", f64, { cardinality: 3, layout: "aos", fillValue: 0.75 }) as unknown as Field<"f64", 3, 2>;
  const narrow = grid.field("narrow", f32) as unknown as Field<"f32", 1, 2>;
  const scalars = ["s", "t"].map((name) => grid.scalar(name, f64));
  const start = (): void => {
    [...plain, pair, narrow, trio].forEach((field, n) => field.fill((x, y, _, k) => noise(n, x, y, k), { ghosts: true }));
    scalars.forEach((scalar, n) => scalar.set(n + 0.25));
  };
  const results = async (): Promise<unknown[]> => {
    const values = await Promise.all([...plain, pair, narrow, trio].map((field) => field.download({ ghosts: true })));
    return [...values.map((list) => [...list]), ...(await Promise.all(scalars.map((scalar) => scalar.get())))];
  };
  return { grid, plain, pair, trio, narrow, scalars, start, results };
}
type Playground = ReturnType<typeof playground>;

/** Steps of all patterns over two of the plain fields and the two scalars, which keep values within bounds. */
const STEPS: ((at: Playground, x: Plain, y: Plain, s: Scalar<"f64">, t: Scalar<"f64">) => Container | Swap)[] = [
  (_, x, y) => swap(x as unknown as Field, y as unknown as Field),
  ({ grid }, x, y) => grid.container("map", { x, y }, ({ x, y }, c) => void (y[c] = 0.5 * x[c] + 0.125 * c.y)),
  ({ grid }, x, y, s) =>
    grid.container("update", { x, y, s }, ({ x, y, s }, c) => {
      y[c] = 0.5 * y[c] + (s / 64) * x[c];
    }),
  ({ grid }, x, y) =>
    grid.container("stencil", { x, y }, ({ x, y }, c) => {
      y[c] = 0.25 * (x.at(c, 1, 0) - x.at(c, -1, 0) + x.at(c, 0, 1) - x.at(c, 0, -1));
    }),
  ({ grid }, x, y) =>
    grid.container("wide", { x, y }, ({ x, y }, c) => {
      y[c] = 0.5 * x.at(c, 1, 2) + 0.25 * x[c];
    }),
  ({ grid }, x, y) =>
    grid.container("along x", { x, y }, ({ x, y }, c) => {
      y[c] = 0.5 * (x.at(c, 1, 0) + x.at(c, -2, 0));
    }),
  ({ grid }, x, y) =>
    grid.container("upwind", { x, y }, ({ x, y }, c) => {
      if (x.at(c, 0, -1) > 0 && x.isActive(c, 0, 1)) y[c] = x[c] - x.at(c, 0, -1);
    }),
  ({ grid }, x, y, s) => grid.container("dot", { x, y, s: sum(s) }, ({ x, y, s }, c) => s.add(x[c] * y[c])),
  ({ grid }, x, y, s, t) =>
    grid.container("flow", { x, y, s: sum(s), t: max(t) }, ({ x, y, s, t }, c) => {
      y[c] = 0.75 * x.at(c, 0, 1);
      if (c.x === 1) return;
      s.add(x.at(c, 0, -1) * y[c]);
      t.max(x[c]);
    }),
  ({ grid, pair }, x, _, s) =>
    grid.container("split", { x, pair, s: min(s) }, ({ x, pair, s }, c) => {
      pair[c][0] = x[c];
      if (x[c] > 0) pair[c][1] = 0.5 * x[c];
      s.min(pair[c][1]);
    }),
  ({ grid, pair }, _, y) =>
    grid.container("join", { y, pair }, ({ y, pair }, c) => {
      y[c] = 0.5 * pair.at(c, -1, 1)[0] + 0.25 * pair[c][1];
    }),
  // Containers that touch some components only.
  ({ grid, pair }, x) => grid.container("first of pair", { x, pair }, ({ x, pair }, c) => void (pair[c][0] = 0.5 * x[c] - 0.25)),
  ({ grid, pair }, x) =>
    grid.container("second of pair", { x, pair }, ({ x, pair }, c) => {
      pair[c][1] = 0.5 * pair[c][1] + 0.25 * x.at(c, 0, 1);
    }),
  ({ grid, pair }, _, y) => grid.container("beyond pair", { y, pair }, ({ y, pair }, c) => void (y[c] = 0.5 * pair.at(c, 0, 1)[1])),
  ({ grid, pair, trio }) =>
    grid.container("divergence", { pair, trio }, ({ pair, trio }, c) => {
      trio[c][2] = 0.25 * (pair.at(c, 1, 0)[0] - pair.at(c, -1, 0)[0] + pair.at(c, 0, 1)[1] - pair.at(c, 0, -1)[1]);
    }),
  ({ grid, trio }) =>
    grid.container("from the next", { trio }, ({ trio }, c) => {
      trio[c][0] = 0.5 * trio.at(c, 0, 1)[1] - 0.25 * trio.at(c, 1, 0)[2] + 0.125 * trio[c][0];
    }),
  ({ grid, pair, trio }, x, _, s) =>
    grid.container("mixed", { x, pair, trio, s: sum(s) }, ({ x, pair, trio, s }, c) => {
      trio[c][1] = 0.5 * trio[c][0] + 0.25 * pair[c][0];
      if (x[c] > 0) pair[c][0] = 0.5 * trio[c][2];
      s.add(x[c] * trio[c][1]);
    }),
  ({ grid, narrow }, x, y) =>
    grid.container("round", { x, y, narrow }, ({ x, y, narrow }, c) => {
      narrow[c] = Math.fround(x[c]);
      y[c] = 0.5 * narrow[c] + y[c] / 2;
    }),
  ({ grid }, x, y, s) =>
    grid.container(
      "part",
      { x, y, s: max(s) },
      ({ x, y, s }, c) => {
        y[c] = 0.5 * x.at(c, 0, 1) - 0.25 * x.at(c, 1, -1);
        s.max(y[c]);
      },
      undefined,
      { on: [slab("x", 2, 9), slab("y", 3, 28)] },
    ),
  ({ grid }, x, y) =>
    grid.container(
      "relax even",
      { x, y },
      ({ x, y }, c) => {
        x[c] = 0.125 * (x.at(c, 1, 0) + x.at(c, -1, 0) + x.at(c, 0, 1) + x.at(c, 0, -1)) + 0.5 * y[c];
      },
      undefined,
      { on: parity(0) },
    ),
  ({ grid }, x, y, s) =>
    grid.container(
      "relax odd",
      { x, y, s: sum(s) },
      ({ x, y, s }, c) => {
        if (y.at(c, 1, 1) > 0) x[c] = 0.25 * x.at(c, 0, -1) - 0.5 * x.at(c, 2, 1);
        s.add(x[c]);
      },
      undefined,
      { on: [parity(1), slab("x", 1, 12)] },
    ),
  ({ grid }, x) => {
    const layers = grid.ghosts[1][0];
    return grid.container(
      "low wall",
      { x },
      ({ x }, c) => {
        x[c] = 0.5 * x.at(c, 0, 1) + 0.25 * x.at(c, 1, 2);
        for (let l = 1; l <= layers; l++) x.put(c, 0, -l, 0.5 * x.at(c, 1, l) - x.at(c, 0, l - 1));
      },
      () => [layers],
      { on: face("ymin") },
    );
  },
  ({ grid }, x, y) => {
    const layers = grid.ghosts[0][1];
    return grid.container(
      "right wall",
      { x, y },
      ({ x, y }, c) => {
        y[c] = 0.5 * y[c];
        for (let l = 1; l <= layers; l++) x.put(c, l, 0, 0.75 * x.at(c, 0, 0) + 0.125 * y.at(c, 0, 0));
      },
      () => [layers],
      { on: [face("xmax"), slab("y", 1, 29)] },
    );
  },
  ({ grid }, _, __, s, t) =>
    grid.scalarStep("mix", { s: assign(s), t }, ({ s, t }) => s.set(0.5 * s.get() + 0.25 * Math.max(-1, Math.min(1, t)))),
  (_, __, ___, s, t) => swap(s as unknown as Scalar, t as unknown as Scalar),
];

/** A sequence of swaps alone is refused. */
const SWAPS = [0, STEPS.length - 1];
const step = fc.record({
  kind: fc.nat(STEPS.length - 1),
  x: fc.nat(2),
  y: fc.nat(1),
  s: fc.nat(1),
  /** In which iterations it runs: all, or every so many, from one on. */
  when: fc.oneof(fc.constant(undefined), fc.record({ n: fc.integer({ min: 2, max: 3 }), phase: fc.nat(1) })),
});
type Draw = typeof step extends fc.Arbitrary<infer T> ? T : never;

const way = (sets: number) =>
  fc.record({
    set: fc.nat(sets - 1),
    kind: fc.constantFrom<Kind>("dense", "sparse", "bricks"),
    occ: fc.constantFrom(...OCC_LEVELS),
    fuse: fc.boolean(),
    unroll: fc.integer({ min: 1, max: 3 }),
  });

const build = (at: Playground, draws: readonly Draw[]): (Container | Swap)[] =>
  draws.map(({ kind, x, y, s }) => STEPS[kind](at, at.plain[x], at.plain.filter((_, n) => n !== x)[y], at.scalars[s], at.scalars[1 - s]));

const timed = (steps: readonly Step[], draws: readonly Draw[]): Step[] =>
  draws.map(({ when }, n) => (when ? every(when.n, [steps[n]], { phase: when.phase }) : steps[n]));

async function outcome(draws: readonly Draw[], set: DeviceSet, kind: Kind, where: Domain, options: SkeletonOptions): Promise<unknown[]> {
  const at = playground(set, kind, where);
  const steps = timed(build(at, draws), draws);
  at.start();
  const all = skeleton(set, "random", steps, { ...options, precision: "strict" });
  await all.run(3);
  await all.run(2);
  const results = await at.results();
  all.free();
  at.grid.free();
  return results;
}

/** Containers one by one on one device: what sequences mean. */
async function meaning(draws: readonly Draw[], where: Domain, one: DeviceSet): Promise<unknown[]> {
  const at = playground(one, "dense", where);
  const steps = build(at, draws);
  at.start();
  for (let turn = 0; turn < 5; turn++)
    for (const [n, made] of steps.entries()) {
      const { when } = draws[n];
      if (when && turn % when.n !== when.phase) continue;
      if ("swap" in made) exchange(made.swap);
      else await at.grid.run(made, { precision: "strict" });
    }
  return at.results();
}

const sequence = fc.array(step, { minLength: 2, maxLength: 6 }).filter((draws) => draws.some(({ kind }) => !SWAPS.includes(kind)));

/**
 * Random sequences on `sets`, in several ways each, against their meaning.
 * @param one a set of one member
 */
export const agree = (
  one: DeviceSet,
  sets: readonly DeviceSet[],
  { numRuns, ways, seed = 1 }: { numRuns: number; ways: number; seed?: number },
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(sequence, domain, fc.array(way(sets.length), { minLength: ways, maxLength: ways }), async (draws, where, all) => {
      const expected = await meaning(draws, where, one);
      for (const { set, kind, ...options } of all)
        assert.deepEqual(await outcome(draws, sets[set], kind, where, options), expected, JSON.stringify({ set, kind, ...options }));
    }),
    { numRuns, seed, includeErrorInReport: true },
  );

/** The sequence of a seed, for programs that draw the same on several ranks. */
export function drawnSequence(seed: number): DrawnCase {
  const [[draws, where, { kind, fuse, unroll }]] = fc.sample(fc.tuple(sequence, domain, way(1)), { seed, numRuns: 1 });
  return {
    meaning: (one) => meaning(draws, where, one),
    outcome: (set, occ) => outcome(draws, set, kind, where, { occ, fuse, unroll }),
  };
}
