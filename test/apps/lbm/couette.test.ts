import assert from "node:assert/strict";
import { after, it } from "node:test";
import { open } from "isoform";
import { devices } from "isoform/set";
import { cavity } from "../../../apps/lbm/cavity.js";
import { D2Q9, D3Q19 } from "../../../apps/lbm/lattice.js";
import { profile, Simulation } from "../../../apps/lbm/simulation.js";

const device = await open("wasm");
const set = await devices([device, device]);
after(() => device.close());

for (const [lattice, periodic] of [
  [D2Q9, ["x"]],
  [D3Q19, ["x", "z"]],
] as const)
  it(`${lattice.name}: a lid over a periodic box drags the fluid along, linearly from wall to wall`, async () => {
    const size = 8;
    const flow = cavity({ reynolds: 10, size, lattice, periodic });
    assert.deepEqual(flow.extents, lattice.dimension === 2 ? [8, 10] : [8, 10, 8]);
    const simulation = await Simulation.create(set, flow);
    await simulation.run(3000);
    await simulation.measure();
    const from = lattice.dimension === 2 ? [3, 1] : [3, 1, 5];
    const found = await profile(simulation.velocity, from, 1, size, 0);
    for (const [n, u] of found.entries()) assert.ok(Math.abs(u - (0.1 * (n + 0.5)) / size) < 1e-9, `row ${n}: ${u}`);
    simulation.free();
  });

it("a cavity that is periodic along one of three axes has walls along the others", () => {
  const { extents, periodic, kind } = cavity({ reynolds: 10, size: 4, lattice: D3Q19, periodic: ["z"] });
  assert.deepEqual(extents, [6, 6, 4]);
  assert.deepEqual(periodic, [false, false, true]);
  assert.equal(kind(0, 2, 0), kind(5, 2, 3));
  assert.notEqual(kind(0, 2, 0), kind(2, 2, 0));
});
