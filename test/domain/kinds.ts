import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { collect, type GridOptions } from "../../src/domain/index.js";
import type { BaseGrid } from "../../src/domain/base-grid.js";
import { f32, f64, i32, max, min, sum } from "../../src/kernel/declare/params.js";
import { u8 } from "../../src/kernel/declare/storage.js";
import type { DeviceSet } from "../../src/set/index.js";
import { KINDS, type Active, type Make } from "./grid-kinds.js";
import { HostField } from "./host-field.js";
import { sample } from "../random/share.js";
import { jsSet, jsSets, noise, onEachBackend } from "./sets.js";

export { KINDS, type Active, type Make } from "./grid-kinds.js";

const strict = { precision: "strict" } as const;
const value = (x: number, y: number, z: number, k: number): number => noise(x, y, z, k);

export const sphere: Active = (x, y, z) => (x - 9) ** 2 + (y - 5) ** 2 + (z - 7) ** 2 < 60;
const holes: Active = (x, y, z) => noise(x, y, z) > -0.3;
const lone: Active = (x, y, z) => x === 4 && y === 2 && (z === 8 || z === 0);

/** Runs containers on a grid and returns all that they leave, as one list. */
type Program = (grid: BaseGrid) => Promise<number[]>;

/** Vectors, neighbours in all directions over two steps, so that halos are exchanged between them. */
const vectors: Program = async (grid) => {
  const u = grid.field("u", f64, { cardinality: 3, fillValue: 0.25 });
  const v = grid.field("v", f64, { cardinality: 3, fillValue: -1 });
  const mix = (name: string, from: typeof u, to: typeof u) =>
    grid.container(name, { from, to }, ({ from, to }, c) => {
      for (let k = 0; k < 3; k++)
        to[c][k] =
          from[c][k] + 2 * from.at(c, 2, 0, 0)[k] - from.at(c, -1, 1, 0)[k] + 3 * from.at(c, 0, -1, 1)[k] - from.at(c, 0, 0, -2)[2 - k];
    });
  const steps = [mix("there", u, v), mix("back", v, u)];
  u.fill(value);
  for (const step of steps) await grid.run(step, strict);
  return [...(await u.download()), ...(await v.download())];
};

/** Cells that write one component while others are read of their neighbours. */
const components: Program = async (grid) => {
  const u = grid.field("u", f64, { cardinality: 3, fillValue: 0.25 });
  const [first, last] = [
    grid.container("first", { u }, ({ u }, c) => {
      u[c][0] = 0.5 * u.at(c, 1, 0, 0)[1] - u.at(c, 0, -1, 0)[2] + u.at(c, 0, 0, 2)[1] + 0.25 * u[c][0];
    }),
    grid.container("last", { u }, ({ u }, c) => {
      if (u.at(c, -1, 1, 0)[0] > 0) u[c][2] = 0.5 * u.at(c, 0, 0, -1)[0];
      u[c][1] = u[c][2] - u.at(c, 2, 0, 1)[0];
    }),
  ];
  u.fill(value);
  for (const step of [first, last, first]) await grid.run(step, strict);
  return [...(await u.download())];
};

/** Coordinates, activity and all element types. */
const coordinates: Program = async (grid) => {
  const [n, bytes] = [grid.field("n", i32, { fillValue: -7 }), grid.field("bytes", u8, { fillValue: 3 })];
  const single = grid.field("single", f32);
  const count = grid.container("count", { n, bytes, single }, ({ n, bytes, single }, c) => {
    n[c] = c.x + 100 * c.y + 10000 * c.z;
    if (n.isActive(c)) n[c] += 1000000;
    if (n.isActive(c, 1, 0, 0)) n[c] += 2000000;
    if (n.isActive(c, 0, -1, 1)) n[c] += 4000000;
    if (n.isActive(c, -1, 0, -1)) n[c] += 8000000;
    bytes[c] = 37 * c.x + c.z;
    single[c] = Math.fround(c.y * 0.1) + single[c];
  });
  single.fill(value);
  await grid.run(count, strict);
  const blur = grid.container("blur", { n, bytes, single }, ({ n, bytes, single }, c) => {
    n[c] = bytes.at(c, 0, 0, 1) + bytes.at(c, 0, 1, 0) * 3;
    single[c] = single[c] * 0.5 + bytes.at(c, 1, 1, 1);
  });
  await grid.run(blur, strict);
  return [...(await n.download()), ...(await bytes.download()), ...(await single.download())];
};

/** Reductions of all kinds, one of them of a stencil. */
const reductions: Program = async (grid) => {
  const [p, q] = [grid.field("p", f64, { fillValue: 2 }), grid.field("q", f32)];
  const [dot, least] = [grid.scalar("dot", f64), grid.scalar("least", f64)];
  const [total, most] = [grid.scalar("total", f32), grid.scalar("most", i32)];
  const measure = grid.container(
    "measure",
    { p, q, dot: sum(dot), least: min(least), total: sum(total), most: max(most) },
    ({ p, q, dot, least, total, most }, c) => {
      dot.add(p[c] * p.at(c, 0, 0, 1));
      if (p[c] > 0) dot.add(p.at(c, -1, 0, 0));
      least.min(p[c]);
      total.add(q[c]);
      most.max(3 * c.x - c.y);
    },
  );
  p.fill(value);
  q.fill((x, y, z) => 1e3 * noise(z, x, y));
  await grid.run(measure, strict);
  const use = grid.container("use", { p, dot }, ({ p, dot }, c) => {
    p[c] = p[c] / dot;
  });
  await grid.run(use, strict);
  return [await dot.get(), await least.get(), await total.get(), await most.get(), ...(await p.download())];
};

const flat: Program = async (grid) => {
  const [alive, next] = [grid.field("alive", u8), grid.field("next", u8, { fillValue: 1 })];
  const live = grid.scalar("live", i32);
  const step = grid.container("step", { alive, next, live: sum(live) }, ({ alive, next, live }, c) => {
    let n = 0;
    for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++) n += alive.at(c, dx, dy);
    next[c] = n === 3 || (n === 4 && alive[c] !== 0) ? 1 : 0;
    live.add(alive[c] * (c.x + c.y));
  });
  alive.fill((x, y) => (noise(x, y) > 0 ? 1 : 0));
  await grid.run(step, strict);
  return [...(await next.download()), await live.get()];
};

const box = [19, 11, 14];
/** Whole bricks along each axis. */
const ring = [20, 12, 14];
const cases: [title: string, extents: readonly number[], active: Active | undefined, program: Program, options?: GridOptions][] = [
  ["vectors, components apart, in the whole box", box, undefined, vectors],
  ["vectors, components apart, in a sphere", box, sphere, vectors],
  ["vectors, components together, in the whole box", box, undefined, vectors, { layout: "aos" }],
  ["vectors, components together, in random cells", box, holes, vectors, { layout: "aos" }],
  ["vectors in single cells", box, lone, vectors],
  ["components of one field, components apart, in the whole box", box, undefined, components],
  ["components of one field, components together, in a sphere", box, sphere, components, { layout: "aos" }],
  ["components of one field in random cells without ends", ring, holes, components, { periodic: true }],
  ["coordinates, activity and element types in the whole box", box, undefined, coordinates],
  ["coordinates, activity and element types in random cells", box, holes, coordinates],
  ["reductions of the whole box", box, undefined, reductions],
  ["reductions of a sphere", box, sphere, reductions],
  ["reductions of single cells", box, lone, reductions],
  ["reductions along rows of several chunks", [523, 3, 14], holes, reductions],
  ["vectors in a whole box without ends", ring, undefined, vectors, { periodic: true }],
  [
    "vectors, components together, in a sphere cut by periodic boundaries",
    ring,
    sphere,
    vectors,
    { layout: "aos", periodic: [true, false, true] },
  ],
  ["vectors in random cells of a box that is periodic across planes", ring, holes, vectors, { periodic: [false, false, true] }],
  ["coordinates, activity and element types in a box without ends", ring, holes, coordinates, { periodic: true }],
  [
    "coordinates, activity and element types in a box that is periodic within planes",
    ring,
    undefined,
    coordinates,
    { periodic: [true, true, false] },
  ],
  ["reductions of a box without ends", ring, undefined, reductions, { periodic: true }],
  ["reductions of random cells without ends, along rows of several chunks", [524, 4, 14], holes, reductions, { periodic: true }],
  ["two dimensions, the whole box", [35, 21], undefined, flat],
  ["two dimensions without ends", [36, 22], undefined, flat, { periodic: true }],
  ["two dimensions, a disc", [35, 21], (x, y) => (x - 16) ** 2 + (y - 10) ** 2 < 90, flat],
];

/** The same containers on a kind of grid give the bits that they give on a dense one, on every backend and number of members. */
export async function likeDense(kind: string, make: Make): Promise<void> {
  await onEachBackend(`${kind} grids`, ({ all, of }) => {
    for (const [title, extents, active, program, options] of sample(cases))
      it(title, async () => {
        const expected = await resultOf(KINDS.dense, of(1), extents, active, program, options);
        for (const set of all) {
          const found = await resultOf(make, set, extents, active, program, options);
          const wrong = found.findIndex((v, n) => !Object.is(v, expected[n]));
          assert.equal(wrong, -1, `${set.name}: value ${wrong} is ${found[wrong]}, and ${expected[wrong]} on a dense grid`);
        }
      });
  });
}

async function resultOf(
  make: Make,
  set: DeviceSet,
  extents: readonly number[],
  active: Active | undefined,
  program: Program,
  options?: GridOptions,
): Promise<number[]> {
  const grid = make(set, extents, active, options);
  const result = await program(grid);
  grid.free();
  return result;
}

/** Host mirrors, data views and growing stencils of a kind of grid, on sets of one backend. */
export function storesCells(kind: string, make: Make): void {
  describe(`memory of ${kind} grids`, () => {
    const extents = [19, 11, 14] as const;

    it("values are set and read one by one, and outside of the domain they are the fill value", async () => {
      for (const layout of ["soa", "aos"] as const)
        for (const set of jsSets) {
          const grid = make(set, extents, sphere, { layout });
          const u = grid.field("u", f64, { cardinality: 2, fillValue: 0.5 });
          assert.equal(await u.get([9, 5, 7], 1), 0);
          u.fill(3);
          u.set([9, 5, 7], -4, 1);
          u.set([9, 5, 13], 8, 0);
          const expected = new HostField(extents, () => 3, sphere, 0.5, 2).data;
          expected[((7 * 11 + 5) * 19 + 9) * 2 + 1] = -4;
          expected[((13 * 11 + 5) * 19 + 9) * 2] = 8;
          assert.deepEqual([...(await u.download())], expected, set.name);
          assert.deepEqual([await u.get([9, 5, 7], 1), await u.get([9, 5, 13]), await u.get([0, 0, 0])], [-4, 8, 0.5]);
          assert.throws(() => u.set([0, 0, 0], 1), /not an active cell/);
          grid.free();
        }
    });

    it("a wider stencil keeps what fields hold", async () => {
      for (const set of jsSets) {
        const extents = [19, 11, 28];
        const grid = make(set, extents, holes);
        const [p, s] = [grid.field("p", f64, { fillValue: 9 }), grid.field("s", f64)];
        p.fill(value);
        const near = grid.container("near", { p, s }, ({ p, s }, c) => {
          s[c] += p.at(c, 1, 0, 0) + p.at(c, 0, 0, -1);
        });
        await grid.run(near, strict);
        const far = grid.container("far", { p, s }, ({ p, s }, c) => {
          s[c] -= p.at(c, 0, -2, 0) * p.at(c, -3, 0, -2);
        });
        await grid.run(far, strict);
        await grid.run(near, strict);
        const a = new HostField(extents, value, holes, 9);
        const first = (x: number, y: number, z: number): number => a.at(x + 1, y, z) + a.at(x, y, z - 1);
        const expected = (x: number, y: number, z: number): number =>
          first(x, y, z) - a.at(x, y - 2, z) * a.at(x - 3, y, z - 2) + first(x, y, z);
        assert.deepEqual([...(await s.download())], new HostField(extents, expected, holes).data, set.name);
        grid.free();
      }
    });

    it("internal and boundary cells are all cells, each once, also in reductions", async () => {
      for (const set of jsSets) {
        const grid = make(set, extents, sphere);
        const [p, q, total] = [grid.field("p", f64), grid.field("q", f64), grid.scalar("total", f64)];
        const count = grid.container("count", { p, q, total: sum(total) }, ({ p, q, total }, c) => {
          p[c] += 1;
          total.add(0.1 * q.at(c, 0, 0, 1) + 0.01 * c.x);
        });
        q.fill(value);
        await grid.run(count, strict);
        const whole = await total.get();
        p.fill(0);
        const collection = collect(count, "total", "strict");
        for (const view of set.members.length > 1 ? (["boundary", "internal"] as const) : (["internal"] as const))
          set.locals.forEach((member, m) => {
            const launches = grid.prepare(count, m, view, { precision: "strict", reductions: { total: collection.partials[m] } });
            for (const launch of launches) member.queue(0).submit(launch);
          });
        for (const { launches, copies } of collection.rounds) {
          launches.forEach((list, m) => list.forEach((launch) => set.locals[m].queue(0).submit(launch)));
          for (const { source, target, from } of copies) set.locals[from].queue(0).copy(source!, target!);
        }
        assert.deepEqual([...(await p.download())], new HostField(extents, () => 1, sphere).data, set.name);
        assert.equal(await total.get(), whole, set.name);
        collection.free();
        grid.free();
      }
    });

    it("halo copies are contiguous, between neighbours, one for each component that lies apart", () => {
      const grid = make(jsSet(3), extents, sphere);
      grid.require([
        [0, 0, 1],
        [0, 0, -1],
      ]);
      for (const [layout, each] of [
        ["soa", 3],
        ["aos", 1],
      ] as const) {
        const copies = grid.halo(grid.field("u", f64, { cardinality: 3, layout }));
        const pairs = ["10", "01", "21", "12"].flatMap((pair) => Array<string>(each).fill(pair));
        assert.deepEqual(copies.map(({ from, to }) => `${from}${to}`).sort(), pairs.sort());
        for (const { source, target } of copies) {
          assert.ok(source!.contiguous && target!.contiguous && source!.rank === 1 && source!.size > 0);
          assert.deepEqual(source!.shape, target!.shape);
        }
      }
      grid.free();
    });
  });
}
