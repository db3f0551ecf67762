import assert from "node:assert/strict";
import { it } from "node:test";
import { findCells } from "../../../src/domain/particles/kernels.js";
import { dense } from "../../../src/domain/index.js";
import { particles } from "../../../src/domain/particles/index.js";
import { open, range } from "../../../src/index.js";
import { f64, i32 } from "../../../src/kernel/declare/params.js";
import { u8 } from "../../../src/kernel/declare/storage.js";
import { skeleton } from "../../../src/skeleton/index.js";
import { jsSet } from "../sets.js";

for (const [layout, components] of [
  ["soa", 1],
  ["aos", 2],
] as const)
  it(`of an outbox the particles that leave travel between processes, layout ${layout}`, async () => {
    const grid = dense(jsSet(2), [3, 8]);
    const species = particles(grid, "walkers", { v: [f64, 2] }, { layout, capacity: 20, exchange: 5 });
    const { x } = species.columns;
    const rho = grid.field("rho", f64);
    rho.fill(0);
    const walk = species.container("walk", { x, rho }, ({ x, rho }, p, c) => {
      x[p][1] += 1 + rho[c];
    });
    // Three of member 0 cross to member 1, none goes back.
    species.load({ x: [0, 3.5, 1, 3.2, 2, 3.1, 0, 1.5, 1, 5.5] });
    assert.deepEqual(species.traffic, { messages: 2 * (layout === "soa" ? 4 : 2), bytes: 2 * 5 * 4 * 8 });
    for (const container of walk) await grid.run(container);
    for (const { index, queue } of grid.set.locals.map((member) => ({ index: member.index, queue: member.queue(0) })))
      species.leaving(index).submit(queue);
    for (const { from, leading } of species.transfers()) assert.equal(leading!(), from === 0 ? 3 * components : 0);
    const text = await skeleton(grid.set, "walk", walk).explain();
    assert.match(text, /Messages of particles\n.*move.* 320 bytes/);
    grid.free();
  });

it("cells are found where the box has more of them than an i32 counts", async () => {
  const device = await open("js");
  const extents = [2048, 2048, 2000];
  // The index of the second one's cell is 2^32 cells beyond the member's first: it is no cell of the member.
  const x = device.from(f64, [5, 3, 1, 0, 0, 1024, 0, 0, 0, 0, 0, 1999.5], [4, 3]);
  const key = device.array(i32, 4);
  const box = { axes: 3, extents: device.from(i32, extents), periodic: device.from(i32, [0, 0, 0]) };
  const cells = 2 * 2048 * 2048;
  const member = { active: device.from(u8, [0]), masked: false, firstPlane: 0, planes: 2, firstRow: 0, rows: 2048, cells };
  await device.run(findCells.f64, { x, key, ...member, ...box }, range(4));
  assert.deepEqual([...(await device.queue.read(key))], [5 + 2048 * (3 + 2048), cells, 0, cells]);
  await device.close();
});
