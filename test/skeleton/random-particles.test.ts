import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { f64, i32, max, sum } from "isoform";
import type { Container, Field, Grid } from "../../src/domain/index.js";
import { deposit, particles } from "../../src/domain/particles/index.js";
import type { DeviceSet } from "../../src/set/index.js";
import { OCC_LEVELS, skeleton, swap, type SkeletonOptions, type Swap } from "../../src/skeleton/index.js";
import { exchange } from "../../src/skeleton/fusion/sequence.js";
import { KINDS, type Active } from "../domain/kinds.js";
import { share } from "../random/share.js";
import { jsSet, jsSets, noise } from "../domain/sets.js";

/** Whole bricks along each axis, and so many planes for each of 7 members that no particle crosses them between two sorts. */
const EXTENTS = [8, 28];
const PERIODIC = [false, true, [true, false], [false, true]] as const;
const SHAPES: readonly (Active | undefined)[] = [undefined, (x, y) => 5 * (x - 4) ** 2 + (y - 14) ** 2 < 190];
const COUNT = 60;

const domain = fc.record({ shape: fc.nat(SHAPES.length - 1), ends: fc.nat(PERIODIC.length - 1), seed: fc.nat(9) });
type Domain = typeof domain extends fc.Arbitrary<infer T> ? T : never;
type Kind = keyof typeof KINDS;

/** Fields, a scalar, and two species whose particles have no pattern and no great speed. */
function playground(set: DeviceSet, kind: Kind, { shape, ends, seed }: Domain) {
  const grid = KINDS[kind](set, EXTENTS, SHAPES[shape], { periodic: PERIODIC[ends] }) as Grid<2>;
  const [e, f, rho] = ["e", "f", "rho"].map((name) => grid.field(name, f64, { fillValue: name === "rho" ? 0 : 0.5 }));
  const s = grid.scalar("s", f64);
  const make = (name: string, layout: "soa" | "aos") =>
    particles(grid, name, { v: [f64, 2], id: i32 }, { layout, leaving: "absorb", capacity: COUNT });
  const species = [make("ions", "soa"), make("electrons", "aos")] as const;
  const start = (): void => {
    [e, f, rho].forEach((field, n) => field.fill((x, y) => noise(n, x, y)));
    s.set(0.25);
    for (const [n, of] of species.entries()) {
      const places = Array.from({ length: 4 * COUNT }, (_, i) => EXTENTS.map((length, a) => (0.5 + noise(seed, n, i, a) / 2) * length));
      const inside = places.filter(([x, y]) => SHAPES[shape]?.(Math.floor(x), Math.floor(y), 0) ?? true).slice(0, COUNT);
      of.load({ x: inside.flat(), v: inside.flatMap((_, i) => [0.1 * noise(n, i, 2), 0.1 * noise(n, i, 3)]), id: inside.map((_, i) => i) });
    }
  };
  const results = async (): Promise<number[][]> => {
    const columns = await Promise.all(species.map((of) => of.download()));
    const fields = await Promise.all([e, f, rho].map((field) => field.download()));
    return [...columns.flatMap(({ x, v, id }) => [x, v, id]), ...fields, [await s.get()]].map((list) => Array.from(list));
  };
  const free = (): void => {
    species.forEach((of) => of.free());
    grid.free();
  };
  return { grid, e, f, rho, s, species, start, results, free };
}
type Playground = ReturnType<typeof playground>;
type Some = Playground["species"][number];

/** Steps of all kinds, which move no particle farther than 0.13 cells. */
const STEPS: ((at: Playground, some: Some) => Container | Swap | readonly Container[])[] = [
  ({ e, f }) => swap(e as unknown as Field, f as unknown as Field),
  (_, some) =>
    some.container("drift", some.columns, ({ x, v }, p) => {
      for (let a = 0; a < 2; a++) x[p][a] += v[p][a];
    }),
  (_, some) =>
    some.container("turn", { v: some.columns.v }, ({ v }, p) => {
      const [a, b] = [v[p][0], v[p][1]];
      v[p][0] = 0.8 * a - 0.6 * b;
      v[p][1] = 0.6 * a + 0.8 * b;
    }),
  ({ e }, some) =>
    some.container("kick", { v: some.columns.v, e }, ({ v, e }, p, c) => {
      v[p][1] = 0.75 * v[p][1] + (e.at(c, 0, 1) - e.at(c, 0, -1) + e.at(c, 1, 0)) / 256;
    }),
  ({ e }, some) =>
    some.container("slide", { x: some.columns.x, e }, ({ x, e }, p, c) => {
      x[p][0] += (e[c] * (c.y - 14)) / 128;
    }),
  ({ rho, s }, some) =>
    some.container("charge", { x: some.columns.x, rho: deposit(rho), s: sum(s) }, ({ x, rho, s }, p, c) => {
      const [a, b] = [x[p][0] - c.x, x[p][1] - c.y];
      for (let j = 0; j < 2; j++) for (let i = 0; i < 2; i++) rho.add(c, i, j, (i === 0 ? 1 - a : a) * (j === 0 ? 1 - b : b));
      s.add(b / 64);
    }),
  ({ rho, f }, some) =>
    some.container("count", { rho: deposit(rho), f: deposit(f) }, ({ rho, f }, _, c) => {
      rho.add(c, 0, 0, 0.125);
      f.add(c, -1, 2, 0.0625);
    }),
  ({ s }, some) =>
    some.container("fastest", { v: some.columns.v, s: max(s) }, ({ v, s }, p) => s.max(v[p][0] * v[p][0] + v[p][1] * v[p][1])),
  ({ s }, some) =>
    some.container("cool", { v: some.columns.v, s }, ({ v, s }, p) => {
      v[p][0] /= 1 + s * s;
    }),
  ({ grid, rho }) => grid.container("clear", { rho }, ({ rho }, c) => void (rho[c] = 0)),
  ({ grid, rho, e }) =>
    grid.container("solve", { rho, e }, ({ rho, e }, c) => {
      e[c] = 0.5 * e[c] + rho[c] / (2 + 2 * Math.abs(rho[c]));
    }),
  ({ grid, e, f }) =>
    grid.container("smooth", { e, f }, ({ e, f }, c) => {
      f[c] = 0.25 * (e.at(c, 0, 1) + e.at(c, 0, -1) + e.at(c, -1, 0)) + 0.125 * e[c];
    }),
];

/** A sequence of swaps alone is refused. */
const SWAP = 0;
const step = fc.record({ kind: fc.nat(STEPS.length - 1), of: fc.nat(1) });
type Draw = typeof step extends fc.Arbitrary<infer T> ? T : never;

const way = fc.record({
  set: fc.nat(jsSets.length - 1),
  kind: fc.constantFrom<Kind>("dense", "sparse", "bricks"),
  occ: fc.constantFrom(...OCC_LEVELS),
  fuse: fc.boolean(),
  unroll: fc.integer({ min: 1, max: 2 }),
});

const build = (at: Playground, draws: readonly Draw[]): (Container | Swap)[] =>
  draws.flatMap(({ kind, of }) => STEPS[kind](at, at.species[of]));

async function outcome(draws: readonly Draw[], set: DeviceSet, kind: Kind, where: Domain, options: SkeletonOptions): Promise<number[][]> {
  const at = playground(set, kind, where);
  const steps = build(at, draws);
  at.start();
  const all = skeleton(set, "random", steps, { ...options, precision: "strict" });
  await all.run(2);
  await all.run(3);
  const results = await at.results();
  all.free();
  at.free();
  return results;
}

/** Containers one by one on one device: what sequences mean. */
async function meaning(draws: readonly Draw[], where: Domain): Promise<number[][]> {
  const at = playground(jsSet(1), "dense", where);
  const steps = build(at, draws);
  at.start();
  for (let turn = 0; turn < 5; turn++)
    for (const made of steps) {
      if ("swap" in made) exchange(made.swap);
      else await at.grid.run(made, { precision: "strict" });
    }
  return at.results();
}

it("random sequences of particles and fields give the bits of the sequential run, however they are planned and spread", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 6 }).filter((draws) => draws.some(({ kind }) => kind !== SWAP)),
      domain,
      fc.array(way, { minLength: 2, maxLength: 2 }),
      async (draws, where, ways) => {
        const expected = await meaning(draws, where);
        for (const { set, kind, ...options } of ways)
          assert.deepEqual(await outcome(draws, jsSets[set], kind, where, options), expected, JSON.stringify({ set, kind, ...options }));
      },
    ),
    { numRuns: share(8), seed: 2, includeErrorInReport: true },
  ));
