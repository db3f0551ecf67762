import assert from "node:assert/strict";
import { it } from "node:test";
import type { BaseGrid } from "../../../src/domain/base-grid.js";
import { dense, type DenseOptions } from "../../../src/domain/index.js";
import { deposit, particles } from "../../../src/domain/particles/index.js";
import { f32, f64, i32 } from "../../../src/kernel/declare/params.js";
import type { DeviceSet } from "../../../src/set/index.js";
import { skeleton } from "../../../src/skeleton/index.js";
import { jsSet, noise, onEachBackend } from "../sets.js";
import { PlainBox } from "./plain-box.js";
import { cloud, cubes, plainCubes } from "./plasmas.js";

/* Species on grids that are cut along y, or y and z. */

const EXTENTS = [3, 35, 6] as const;
const CUTS = [
  [2, "y"],
  [3, "y"],
  [4, "yz"],
] as const;
const cave = (x: number, y: number, z: number): boolean => Math.hypot(y - 15, 3 * (z - 3), x) < 19;

await onEachBackend("particles on grids that are cut along y", ({ of, backend }) => {
  for (const [title, active, periodic] of [
    ["a ring", undefined, [true, true, true]],
    ["a cave that absorbs", cave, [false, false, false]],
  ] as const)
    it(`${title}: the bits of plain loops`, async () => {
      const box = new PlainBox(EXTENTS, periodic, active);
      const expected = plainCubes(box, cloud(900, box), 3);
      for (const [members, split] of backend === "js" ? CUTS : CUTS.slice(2)) {
        const grid = dense(of(members), EXTENTS, { periodic, active, split });
        const plasma = cubes(grid as BaseGrid, { leaving: active ? "absorb" : "refuse", exchange: 400 });
        plasma.start(cloud(900, box));
        for (let turn = 0; turn < 3; turn++) for (const step of plasma.steps) await grid.run(step, { precision: "strict" });
        assert.deepEqual(await plasma.results(), expected, `${members} members, ${split}`);
        grid.free();
      }
    });
});

/** Names of all particles, in their order, and where they are, after some steps of a skeleton in which they go up to 3 cells and sort every other time. */
async function wandered(set: DeviceSet, options: DenseOptions, positions: typeof f64 | typeof f32): Promise<unknown> {
  const grid = dense(set, EXTENTS, { periodic: true, ...options });
  const dust = particles(grid, "dust", { id: i32, v: [f64, 3] }, { exchange: 900, capacity: 1300, positions: positions as typeof f64 });
  const crowd = grid.field("crowd", f64);
  const { x, id, v } = dust.columns;
  const walk = dust.container("walk", { x, v, id }, ({ x, v, id }, p) => {
    for (let a = 0; a < 3; a++) {
      x[p][a] = Math.fround(x[p][a] + v[p][a]);
      v[p][a] = -0.9 * v[p][a] + 0.01 * (id[p] % 7);
    }
  });
  // The sum depends on the order of the particles of a cell.
  const meet = dust.container("meet", { id, crowd: deposit(crowd), v }, ({ id, crowd, v }, p, c) => crowd.add(c, 0, 0, 0, id[p] * v[p][1]));
  const list = Array.from({ length: 1200 }, (_, n) => n);
  dust.load({
    x: list.flatMap((n) => EXTENTS.map((length, a) => Math.fround((0.5 + 0.499 * noise(n, a)) * length))),
    v: list.flatMap((n) => [0.8, 3, 2.5].map((most, a) => most * noise(n, a, 5))),
    id: list,
  });
  crowd.fill(0);
  await skeleton(set, "wander", [walk, walk, meet].flat(), { precision: "strict", occ: "two-way" }).run(4);
  const all = await dust.download();
  const found = [[...all.id], [...all.x], [...(await crowd.download())], (await dust.held()).reduce((a, b) => a + b, 0)];
  grid.free();
  return found;
}

for (const positions of [f64, f32])
  it(`positions of ${positions.type}: the order of the particles of a cell does not depend on cuts, whichever neighbours they come from`, async () => {
    const expected = await wandered(jsSet(1), {}, positions as typeof f64);
    for (const [members, split] of positions.type === "f64" ? CUTS : CUTS.slice(2))
      assert.deepEqual(await wandered(jsSet(members), { split }, positions as typeof f64), expected, `${members} members, ${split}`);
  });
