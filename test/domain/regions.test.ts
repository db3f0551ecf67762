import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dense, face, parity, slab, type Region } from "../../src/domain/index.js";
import { positionIn } from "../../src/domain/grid/region.js";
import { f32, f64, max, sum } from "../../src/kernel/declare/params.js";
import { OCC_LEVELS, skeleton } from "../../src/skeleton/index.js";
import { KINDS, sphere, type Active } from "./kinds.js";
import { sample } from "../random/share.js";
import { jsSet, noise, onEachBackend } from "./sets.js";

/* Containers over some of the cells: a layer next to a side, or a range of coordinates. */

const EXTENTS = [300, 3, 14];
const REGIONS: Readonly<Record<string, { on: Region | readonly Region[]; has: Active }>> = {
  "y from 1 to 2": { on: slab("y", 1, 2), has: (_x, y) => y === 1 },
  "x from 5 to 290": { on: slab("x", 5, 290), has: (x) => x >= 5 && x < 290 },
  "one plane": { on: slab("z", 3, 4), has: (_x, _y, z) => z === 3 },
  "the first plane": { on: face("zmin"), has: (_x, _y, z) => z === 0 },
  "the last column": { on: face("xmax"), has: (x) => x === 299 },
  "odd cells": { on: parity(1), has: (x, y, z) => (x + y + z) % 2 === 1 },
  "even cells of some": {
    on: [parity(0), slab("x", 7, 100), slab("z", 3, 12)],
    has: (x, y, z) => (x + y + z) % 2 === 0 && x >= 7 && x < 100 && z >= 3 && z < 12,
  },
  "a corner": { on: [face("zmax"), slab("x", 0, 2), slab("y", 2, 3)], has: (x, y, z) => x < 2 && y === 2 && z === 13 },
};

onEachBackend("regions", ({ of, some }) => {
  for (const [name, { on, has }] of sample(Object.entries(REGIONS)))
    for (const [domain, active] of [
      ["the whole box", undefined],
      ["a sphere", ((x, y, z) => sphere(x % 20, y, z)) as Active],
    ] as const)
      it(`${name} of ${domain}: other cells are left alone, and count in no reduction`, async () => {
        const results: number[][] = [];
        for (const count of some(active ? [1, 2] : [1, 2, 3, 7]))
          for (const kind of ["dense", "sparse", "bricks"] as const) {
            if (count === 3 && kind !== "dense") continue;
            const grid = KINDS[kind](of(count), EXTENTS, active);
            const [p, q] = [grid.field("p", f64), grid.field("q", f32)];
            const [total, most] = [grid.scalar("total", f64), grid.scalar("most", f64)];
            p.fill(noise);
            q.fill(-2);
            const part = grid.container(
              "part",
              { p, q, total: sum(total), most: max(most) },
              ({ p, q, total, most }, c) => {
                q[c] = Math.fround(p.at(c, -1, 0, 0) + p.at(c, 0, 0, 1));
                total.add(p[c]);
                most.max(p[c] - c.y);
              },
              undefined,
              { on },
            );
            for (const [how, run] of [
              ["alone", () => grid.run(part, { precision: "strict" })],
              ...OCC_LEVELS.filter((occ) => occ === "standard" || count === 3).map((occ) => {
                const change = grid.container("change", { p }, ({ p }, c) => void (p[c] = p[c] + 0));
                const all = skeleton(of(count), "all", [change, part], { precision: "strict", occ });
                return [occ, () => all.run(2)] as const;
              }),
            ] as const) {
              q.fill(-2);
              await run();
              const values = await q.download();
              const wanted = values.map((_, n) => {
                const [x, y, z] = [n % 300, Math.floor(n / 300) % 3, Math.floor(n / 900)];
                const at = (i: number, j: number, k: number) => (i >= 0 && k < 14 && (active?.(i, j, k) ?? true) ? noise(i, j, k, 0) : 0);
                if (active && !active(x, y, z)) return 0;
                return has(x, y, z) ? at(x - 1, y, z) + at(x, y, z + 1) : -2;
              });
              assert.deepEqual(values, wanted, `${kind}, ${count} members, ${how}`);
              results.push([await total.get(), await most.get()]);
            }
            // The partials of members without such cells are none.
            await grid.run(part, { precision: "fast" });
            assert.ok(Math.abs((await total.get()) - results[0][0]) < 1e-9, `${kind}, ${count} members, fast`);
            assert.equal(await most.get(), results[0][1]);
            grid.free();
          }
        for (const found of results) assert.deepEqual(found, results[0]);
        const cells = Array.from({ length: 300 * 3 * 14 }, (_, n) => [n % 300, Math.floor(n / 300) % 3, Math.floor(n / 900)] as const);
        const inside = cells.filter(([x, y, z]) => has(x, y, z) && (active?.(x, y, z) ?? true));
        const sumOf = inside.reduce((total, [x, y, z]) => total + noise(x, y, z, 0), 0);
        assert.ok(Math.abs(results[0][0] - sumOf) < 1e-9);
        assert.equal(results[0][1], Math.max(-Infinity, ...inside.map(([x, y, z]) => noise(x, y, z, 0) - y)));
      });
});

describe("regions", () => {
  it("are shown, and keep containers from being merged", async () => {
    const grid = dense(jsSet(1), [8, 8]);
    const [a, b] = [grid.field("a", f64), grid.field("b", f64)];
    a.fill(1);
    const steps = [
      grid.container("all", { a, b }, ({ a, b }, c) => void (b[c] = 2 * a[c])),
      grid.container("side", { b }, ({ b }, c) => void (b[c] = 5), undefined, { on: face("xmin") }),
      grid.container("more", { a, b }, ({ a, b }, c) => void (a[c] = b[c])),
    ];
    const plan = skeleton(grid.set, "sides", steps, { temporary: [b] });
    const text = await plan.explain();
    assert.match(text, /side +map on xmin/);
    assert.match(text, /"side" runs on xmin only/);
    await plan.run(1);
    assert.deepEqual([...(await a.download())].slice(0, 9), [5, 2, 2, 2, 2, 2, 2, 2, 5]);
    await assert.rejects(skeleton(grid.set, "sides", [steps[1], steps[2]], { temporary: [b] }).explain(), /needs the value of field "b"/);
  });

  it("give positions in their box", () => {
    const box = { bounds: [[1, 3], [0, 2], [4, 5]], side: undefined, name: "" } as const; // prettier-ignore
    assert.deepEqual([positionIn(box, [4, 2, 6], 33), positionIn(box, [4, 2, 6], 38), positionIn(box, [4, 2, 6], 32)], [0, 3, undefined]);
  });
});
