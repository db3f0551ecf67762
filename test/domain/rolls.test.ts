import assert from "node:assert/strict";
import { it } from "node:test";
import { f32, f64, i32, u8 } from "isoform";
import { dense, face, roll, slab, sparse } from "../../src/domain/index.js";
import { skeleton } from "../../src/skeleton/index.js";
import { OCC_LEVELS } from "../../src/skeleton/plan/occ.js";
import { jsSet, noise, onEachBackend } from "./sets.js";

const COUNTS = [1, 2, 3, 4, 7];
const [NX, NY, NZ] = [12, 6, 16];
const mod = (n: number, extent: number): number => ((n % extent) + extent) % extent;
const value = (x: number, y: number, z: number, k: number): number => x + 100 * y + 10000 * z + 1e6 * k;

await onEachBackend("copies of cells to other places", ({ of, some }) => {
  it("fill the ghosts of an inflow with columns from downstream, half a width aside", async () => {
    for (const layout of ["soa", "aos"] as const)
      for (const count of some(COUNTS)) {
        const grid = dense(of(count), [NX, NY, NZ], { periodic: [false, false, true], ghosts: { xmin: 3 }, layout });
        const w = grid.field("w", f64, { cardinality: 3 });
        w.fill(value);
        await grid.run(roll(w, w, [-9, 0, NZ / 2], { on: slab("x", -3, 0) }));
        const found = await w.download({ ghosts: true });
        let n = 0;
        for (let z = 0; z < NZ; z++)
          for (let y = 0; y < NY; y++)
            for (let x = -3; x < NX; x++)
              for (let k = 0; k < 3; k++, n++)
                assert.equal(found[n], x < 0 ? value(x + 9, y, mod(z - NZ / 2, NZ), k) : value(x, y, z, k), `${[x, y, z, k]} on ${count}`);
        grid.free();
      }
  });

  it("roll whole fields round all axes, in place or into others, some components alone", async () => {
    for (const count of some(COUNTS))
      for (const token of [f32, i32, u8]) {
        const grid = dense(of(count), [NX, NY, NZ], { periodic: true });
        const [a, b] = ["a", "b"].map((name) => grid.field(name, token, { cardinality: 4 }));
        const small = (x: number, y: number, z: number, k: number): number => (x + 3 * y + 5 * z + 50 * k) % 251;
        a.fill(small);
        b.fill(7);
        await grid.run(roll(a, b, [5, -7, 21], { components: [3, 0, 1] }));
        await grid.run(roll(a, a, [0, 1, -3]));
        const [inPlace, other] = [await a.download(), await b.download()];
        let n = 0;
        for (let z = 0; z < NZ; z++)
          for (let y = 0; y < NY; y++)
            for (let x = 0; x < NX; x++)
              for (let k = 0; k < 4; k++, n++) {
                assert.equal(other[n], k === 2 ? 7 : small(mod(x - 5, NX), mod(y + 7, NY), mod(z - 21, NZ), k));
                assert.equal(inPlace[n], small(x, mod(y - 1, NY), mod(z + 3, NZ), k));
              }
        grid.free();
      }
  });

  it("reach ghosts at all sides, in two dimensions too", async () => {
    for (const count of some(COUNTS)) {
      const flat = dense(of(count), [9, 15], { ghosts: 2 });
      const p = flat.field("p", f64);
      p.fill((x, y) => x + 100 * y, { ghosts: true });
      await flat.run(roll(p, p, [0, 14], { on: slab("y", 15, 17) })); // the first rows beyond the last ones
      await flat.run(roll(p, p, [-3, -9], { on: [face("ymin"), slab("x", 2, 6)] }));
      assert.deepEqual([await p.get([4, 16]), await p.get([4, 15]), await p.get([-1, 15])], [4 + 100 * 2, 4 + 100, -1 + 1500]);
      assert.deepEqual([await p.get([3, 0]), await p.get([1, 0]), await p.get([6, 0])], [6 + 900, 1, 6]);
      flat.free();
    }
  });

  it("run in sequences, between what writes and what reads, with the same bits on any number of members", async () => {
    const results = new Set<string>();
    for (const count of some(COUNTS))
      for (const occ of count === 3 ? OCC_LEVELS : (["standard"] as const)) {
        const grid = dense(of(count), [NX, NY, 21], { periodic: [false, true, true], ghosts: { xmin: 2 } });
        const [p, q] = [grid.field("p", f64), grid.field("q", f64)];
        const smooth = grid.container("smooth", { p, q }, ({ p, q }, c) => {
          q[c] = 0.5 * p[c] + 0.3 * p.at(c, -2, 0, 0) + 0.2 * p.at(c, -1, 1, 1) - 0.1 * p.at(c, 0, 0, -1);
        });
        const recycle = roll(q, p, [-8, 2, 10], { on: slab("x", -2, 0), name: "recycle" });
        const back = grid.container("back", { p, q }, ({ p, q }, c) => {
          p[c] = q[c] + 0.01 * c.z;
        });
        p.fill(noise, { ghosts: true });
        const steps = skeleton(grid.set, "recycling", [smooth, recycle, back], { precision: "strict", occ });
        await steps.run(4);
        results.add((await p.download({ ghosts: true })).join());
        const text = await steps.explain();
        assert.match(text, /recycle +.*reads q +writes p/);
        assert.match(text, /smooth -> recycle +read after write of q|smooth -> recycle +.*read after write of q/);
        steps.free();
        grid.free();
      }
    assert.equal(results.size, 1);
  });
});

it("copies that cannot be are refused", async () => {
  const grid = dense(await jsSet(1), [8, 6, 4], { ghosts: { xmin: 2 }, periodic: [false, false, true] });
  const [p, v] = [grid.field("p", f64), grid.field("v", f64, { cardinality: 2 })];
  const other = dense(await jsSet(1), [8, 6, 4]).field("other", f64);
  const holed = dense(await jsSet(1), [8, 6, 4], { active: (x) => x > 1 }).field("holed", f64);
  const thin = sparse(await jsSet(1), [8, 6, 4], undefined).field("thin", f64);
  assert.throws(() => roll(p, other, [0, 0, 0]), /"p" to "other", which are of two grids/);
  assert.throws(() => roll(grid.field("n", i32), p, [0, 0, 0]), /of two types/);
  assert.throws(() => roll(holed, holed, [0, 0, 0]), /some cells of the grid are inactive/);
  assert.throws(() => roll(thin, thin, [0, 0, 0]), /runs on a sparse grid/);
  assert.throws(() => roll(p, v, [0, 0, 0]), /components \[0,1\] of 1 of "p" to 2 of "v"/);
  for (const component of [-1, 2, 0.5]) assert.throws(() => roll(v, v, [0, 0, 0], { components: [0, component] }), /components \[0,/);
  assert.throws(() => roll(v, v, [0, 0, 0], { components: [] }), /give \{ components \}/);
  assert.throws(() => roll(p, p, [0, 0]), /shifted by \[0,0\] on a grid of 3 dimensions/);
  assert.throws(() => roll(p, p, [0.5, 0, 0]), /give a whole number for each axis/);
  assert.throws(
    () => roll(p, p, [1, 0, 0], { on: slab("x", -2, 0) }),
    /cells from -3 to -1 along x are asked for, and the grid has cells from -2 to 8/,
  );
  assert.throws(() => roll(p, p, [0, 1, 5]), /cells from -1 to 5 along y/);
  assert.throws(() => roll(p, p, [0, 0, 5], { at: 1 } as object), /no option "at" \(use on, components and name\)/);
  assert.throws(() => roll(p, p, [0, 0, 5], { on: slab("x", 3, 3) }), /runs on x from 3 to 3/);
});

it("copies may come from the ghosts at one side alone, as far as they go", async () => {
  for (const [ghosts, first, last] of [
    [{ xmin: 2 }, -2, 8],
    [{ xmax: 2 }, 0, 10],
  ] as const) {
    const grid = dense(jsSet(1), [8, 6], { ghosts });
    const [p, q] = [grid.field("p", f64), grid.field("q", f64)];
    p.fill((x, y) => x + 100 * y, { ghosts: true });
    await grid.run(roll(p, q, [-first, 0], { on: slab("x", 0, 2) }));
    await grid.run(roll(p, q, [8 - last, 0], { on: slab("x", 6, 8) }));
    assert.deepEqual(
      await Promise.all([0, 1, 6, 7].map((x) => q.get([x, 3]))),
      [first, first + 1, last - 2, last - 1].map((x) => x + 300),
    );
    for (const [shift, from] of [
      [1 - first, 0],
      [7 - last, 6],
    ])
      assert.throws(() => roll(p, q, [shift, 0], { on: slab("x", from, from + 2) }), /and the grid has cells from/);
    grid.free();
  }
});
