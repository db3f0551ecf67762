import assert from "node:assert/strict";
import { it } from "node:test";
import type { BaseGrid } from "../../src/domain/base-grid.js";
import { f64, max, sum } from "../../src/kernel/declare/params.js";
import { dense, type DenseOptions } from "../../src/domain/index.js";
import type { DeviceSet } from "../../src/set/index.js";
import { skeleton, swap, type OccLevel } from "../../src/skeleton/index.js";
import { jsSet, noise } from "./sets.js";

/* Grids of several levels that are cut along y, or y and z. */

const EXTENTS = [
  [5, 75, 13],
  [8, 96, 16],
] as const;
const holes = (x: number, y: number, z: number): boolean => noise(x >> 1, y >> 2, z >> 1) > -0.6;

/** Values of all levels after steps in which each reads the next ones, with offsets along all axes, and sums of rows of the coarsest. */
async function left(set: DeviceSet, extents: (typeof EXTENTS)[number], options: DenseOptions, occ: OccLevel): Promise<number[][]> {
  const grids: BaseGrid<3>[] = [dense(set, extents, { ...options, levels: 2 })];
  while (grids.length <= 2) grids.push(grids.at(-1)!.coarsen());
  const levels = grids.map((grid, n) => {
    const [u, v] = ["u", "v"].map((name) => grid.field(`${name} ${n}`, f64, { fillValue: 0.25 * n }));
    return { grid, u, v };
  });
  const down = levels.slice(1).map(({ grid, u }, n) => {
    const fine = levels[n].u;
    return grid.container("down", { fine, u }, ({ fine, u }, c) => {
      let total = 0;
      for (let k = -1; k <= 2; k++) for (let j = -1; j <= 3; j++) total += fine.fine(c, 1, j, k) * (1 + 0.1 * j - 0.01 * k);
      u[c] = 0.1 * total + 1e-3 * c.y;
    });
  });
  const smooth = levels.map(({ grid, u, v }) =>
    grid.container("smooth", { u, v }, ({ u, v }, c) => {
      v[c] = 0.5 * u[c] + 0.1 * (u.at(c, 0, 1, 0) - u.at(c, 0, -1, 1) + u.at(c, 1, 1, -1)) - 0.05 * u.at(c, 0, -2, 0);
    }),
  );
  const up = levels.slice(0, -1).map(({ grid, u }, n) => {
    const coarse = levels[n + 1].u;
    return grid.container("up", { coarse, u }, ({ coarse, u }, c) => {
      u[c] += 0.5 * coarse.coarse(c, 0, 0, 0) + 0.1 * coarse.coarse(c, 0, 1, -1) - 0.1 * coarse.coarse(c, -1, -1, 1);
    });
  });
  const last = levels.at(-1)!;
  const rows = last.grid.field("rows", f64, { axes: ["z"] });
  const [total, most] = [last.grid.scalar("total", f64), last.grid.scalar("most", f64)];
  const fold = last.grid.container("fold", { u: last.u, rows: sum(rows) }, ({ u, rows }, c) => rows.add(u[c]));
  const measure = last.grid.container("measure", { u: last.u, total: sum(total), most: max(most) }, ({ u, total, most }, c) => {
    total.add(u[c]);
    most.max(u[c]);
  });
  const smoothed = levels.map(({ u, v }, n) => [smooth[n], swap(u, v)]);
  const all = [...smoothed[0], down[0], ...smoothed[1], down[1], ...smoothed[2], fold, measure, up[1], ...smoothed[1], up[0]];
  levels[0].u.fill(noise);
  await skeleton(set, "levels", all, { precision: "strict", occ }).run(3);
  const fields = await Promise.all(levels.map(({ u }) => u.download()));
  const results = [...fields, await rows.download(), [await total.get(), await most.get()]].map((values) => [...values]);
  for (const { grid } of levels) grid.free();
  return results;
}

for (const extents of EXTENTS)
  for (const active of [undefined, holes])
    for (const periodic of extents[1] % 2 === 0 ? [false, true] : [false])
      it(`levels of [${extents}] cells${active ? " with holes" : ""}${periodic ? ", periodic" : ""} have the bits of one member however they are cut`, async () => {
        const expected = await left(jsSet(1), extents, { active, periodic }, "none");
        for (const [members, split] of [
          [2, "y"],
          [3, "y"],
          [4, "yz"],
          [2, "z"],
        ] as const)
          for (const occ of ["standard", "two-way"] as const) {
            const found = await left(jsSet(members), extents, { active, periodic, split }, occ);
            found.forEach((values, n) => assert.deepEqual(values, expected[n], `${members} members, ${split}, ${occ}, result ${n}`));
          }
      });

it("members of all levels begin at multiples of 8 rows, at corresponding cells", () => {
  let grid: BaseGrid<3> = dense(jsSet(4), [4, 160, 24], { split: "yz", levels: 2 });
  for (const step of [32, 16, 8]) {
    for (const [m, { first, rows, cells }] of grid.partitions.entries()) {
      assert.equal(rows![0] % step, 0);
      assert.equal(cells, grid.extents[0] * (rows![1] - rows![0]) * grid.partitions[m].planes);
      assert.ok(first % (step / 8) === 0);
    }
    if (step > 8) grid = grid.coarsen();
  }
  assert.throws(() => grid.coarsen(), /the rows of js\*4\[\d\] begin at \d+; give the finest grid \{ levels: n \}/);
  assert.throws(() => dense(jsSet(3), [4, 64, 8], { split: "y", levels: 2 }), /64 rows for 3 members, which begin at multiples of 32 rows/);
});
