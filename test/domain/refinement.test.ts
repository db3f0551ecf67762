import assert from "node:assert/strict";
import { it } from "node:test";
import { f64, sum } from "../../src/kernel/declare/params.js";
import { bricks, dense, makeGrid } from "../../src/domain/index.js";
import { HostField } from "./host-field.js";
import { jsSet, jsSets, noise, onEachBackend } from "./sets.js";

const strict = { precision: "strict" } as const;
/** Those that can be coarsened. */
const KINDS = ["dense", "sparse"] as const;
const value = (x: number, y: number, z: number): number => noise(x, y, z);

const cases = [
  { title: "even extents", extents: [12, 6, 32], active: undefined },
  { title: "odd extents", extents: [13, 7, 31], active: undefined },
  { title: "inactive cells", extents: [12, 7, 30], active: (x: number, y: number, z: number) => noise(x >> 2, y >> 2, z >> 2) > -0.2 },
] as const;

await onEachBackend("coarser and finer grids", ({ all }) => {
  for (const { title, extents, active } of cases)
    it(`read each other's cells: ${title}`, async () => {
      const f = new HostField(extents, value, active, 0.5);
      const coarseExtents = extents.map((n) => Math.ceil(n / 2));
      const isCoarse = (x: number, y: number, z: number): boolean =>
        [0, 1].some((i) => [0, 1].some((j) => [0, 1].some((k) => f.contains(2 * x + i, 2 * y + j, 2 * z + k))));
      const restricted = new HostField(
        coarseExtents,
        (x, y, z) => {
          let total = 0;
          for (let k = -1; k <= 2; k++)
            for (let j = 0; j < 2; j++) for (let i = 0; i < 2; i++) total += f.at(2 * x + i, 2 * y + j, 2 * z + k);
          return total;
        },
        isCoarse,
        -2,
      );
      const prolonged = new HostField(
        extents,
        (x, y, z) => {
          const [a, b, c] = [x >> 1, y >> 1, z >> 1];
          return 3 * restricted.at(a, b, c) + restricted.at(a - 1, b, c) - restricted.at(a, b, c + 1) * (x - 10 * z);
        },
        active,
      );
      for (const [set, kind] of all.flatMap((set) => KINDS.map((kind) => [set, kind] as const))) {
        const fine = makeGrid(set, extents, { kind, active, levels: 1 });
        const coarse = fine.coarsen();
        assert.equal(fine.coarse, coarse);
        assert.equal(fine.coarsen(), coarse);
        assert.deepEqual(coarse.extents, coarseExtents);
        assert.equal(
          coarse.cells,
          coarse.partitions.reduce((n, { cells }) => n + cells, 0),
        );
        const [p, q] = [fine.field("p", f64, { fillValue: 0.5 }), fine.field("q", f64)];
        const r = coarse.field("r", f64, { fillValue: -2 });
        const restrict = coarse.container("restrict", { p, r }, ({ p, r }, c) => {
          let total = 0;
          for (let k = -1; k <= 2; k++) for (let j = 0; j < 2; j++) for (let i = 0; i < 2; i++) total += p.fine(c, i, j, k);
          r[c] = total;
        });
        const prolong = fine.container("prolong", { r, q }, ({ r, q }, c) => {
          q[c] = 3 * r.coarse(c, 0, 0, 0) + r.coarse(c, -1, 0, 0) - r.coarse(c, 0, 0, 1) * (c.x - 10 * c.z);
        });
        p.fill(value);
        await coarse.run(restrict, strict);
        assert.deepEqual([...(await r.download())], restricted.data, `${kind} ${set.name}`);
        await fine.run(prolong, strict);
        assert.deepEqual([...(await q.download())], prolonged.data, `${kind} ${set.name}`);
        fine.free();
        coarse.free();
      }
    });
});

it("grids of several levels keep their planes on one member", () => {
  for (const [set, kind] of jsSets.flatMap((set) => KINDS.map((kind) => [set, kind] as const))) {
    const levels = [makeGrid(set, [8, 8, 64], { kind, levels: 3 })];
    while (levels.length <= 3) levels.push(levels.at(-1)!.coarsen());
    for (const [n, { extents, partitions }] of levels.entries()) {
      assert.deepEqual(extents, [8 >> n, 8 >> n, 64 >> n]);
      assert.deepEqual(
        partitions.map(({ first }) => first),
        levels[0].partitions.map(({ first }) => first >> n),
      );
    }
  }
});

it("a grid whose partitions do not fit says how to make one", () => {
  const fine = dense(jsSet(3), [4, 4, 10]);
  assert.throws(() => dense(jsSet(3), [4, 4, 10], { levels: 0.5 }), /with 0.5 coarser levels: give a whole number from 0/);
  assert.throws(() => bricks(jsSet(1), [8, 8, 8]).coarsen(), /a brick grid cannot be coarsened: make a dense or an element-sparse one/);
  assert.throws(() => fine.coarsen(), {
    name: "LaunchError",
    message:
      /the grid of \[4,4,10\] cells cannot be coarsened: the planes of js\*3\[\d\] begin at \d; give the finest grid \{ levels: n \}/,
  });
});

it("reductions of a coarse grid read the fine one", async () => {
  for (const [set, kind] of jsSets.flatMap((set) => KINDS.map((kind) => [set, kind] as const))) {
    const fine = makeGrid(set, [8, 8, 16], { kind, levels: 1 });
    const coarse = fine.coarsen();
    const p = fine.field("p", f64);
    const total = coarse.scalar("total", f64);
    const add = coarse.container("add", { p, total: sum(total) }, ({ p, total }, c) => total.add(p.fine(c, 1, 1, 1)));
    p.fill((x, y, z) => x + 8 * y + 64 * z);
    await coarse.run(add, strict);
    assert.equal(await total.get(), 4 * 4 * 8 * (4 + 8 * 4 + 64 * 8));
  }
});

it("tables between grids follow when one of them is laid out anew", async () => {
  for (const kind of KINDS) {
    const fine = makeGrid(jsSet(3), [12, 6, 32], { kind, active: cases[2].active, levels: 1 });
    const coarse = fine.coarsen();
    const [p, q, r] = [fine.field("p", f64), fine.field("q", f64), coarse.field("r", f64)];
    const down = coarse.container("down", { p, r }, ({ p, r }, c) => {
      r[c] = p.fine(c, 0, 0, 0) + p.fine(c, 1, 1, 1);
    });
    const up = fine.container("up", { q, r }, ({ q, r }, c) => {
      q[c] = r.coarse(c, 0, 0, 0);
    });
    p.fill(value);
    const round = async (): Promise<number[]> => {
      await coarse.run(down, strict);
      await fine.run(up, strict);
      return [...(await q.download())];
    };
    const before = await round();
    // Wider halos of one and of the other: all numbers are others.
    fine.require([[0, 0, 3]]);
    assert.deepEqual(await round(), before, kind);
    coarse.require([[1, 0, -2]]);
    assert.deepEqual(await round(), before, kind);
    const further = fine.container("further", { q, r }, ({ q, r }, c) => {
      q[c] = r.coarse(c, 0, 0, 0) + 0 * r.coarse(c, 1, 0, 1);
    });
    await fine.run(further, strict);
    assert.deepEqual([...(await q.download())], before, kind);
    assert.deepEqual(await round(), before, kind);
  }
});
