import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { devices } from "isoform/set";
import { Simulation } from "../../../apps/lbm/simulation.js";
import { vortex, watchDecay } from "../../../apps/lbm/vortex.js";

const device = await open("wasm");
const one = await devices([device]);
const three = await devices([device, device, device]);
after(() => device.close());

/** Vortices that start at density 1, without the pressure that belongs to them. */
const flowAt = (speed: number) => ({ ...vortex({ reynolds: (speed * 64) / 0.02, size: 64, speed }), density: () => 1 });

for (const [speed, most] of [
  [0.05, 1.1],
  [0.005, 1.5],
] as const)
  test(`vortices at ${speed} cells a step decay with populations in 16 bits as in 32, but for ${most} times the error`, async () => {
    const errors: number[] = [];
    for (const storage of [undefined, "f16"] as const) {
      const simulation = await Simulation.create(one, flowAt(speed), { type: "f32", collision: "bgk", storage, precision: "strict" });
      const before = (await simulation.measure()).mass;
      errors.push((await watchDecay(simulation, 3000)).deviation);
      const drift = Math.abs((await simulation.measure()).mass - before) / simulation.grid.cells;
      assert.ok(drift <= 5e-6, `the mass of a cell has changed by ${drift}`);
      simulation.free();
    }
    assert.ok(errors[0] < 5e-3 && errors[1] / errors[0] <= most, `${errors}`);
  });

test("populations in 16 bits have the same bits on three members, on every kind of grid, and are f32 unless said otherwise", async () => {
  const found: string[] = [];
  for (const [set, grid] of [
    [one, "dense"],
    [three, "dense"],
    [three, "sparse"],
    [three, "bricks"],
  ] as const) {
    const simulation = await Simulation.create(set, vortex({ reynolds: 20, size: 32 }), { storage: "f16", grid });
    assert.equal(simulation.settings.type, "f32");
    assert.equal(simulation.populations.f.type, "f16");
    await simulation.run(20);
    found.push([...(await simulation.populations.f.download())].join());
    simulation.free();
  }
  assert.equal(new Set(found).size, 1);
});

test("storage of f64 in 16 bits, and constants of subgrid models that are out of range, are refused", async () => {
  const flow = vortex({ reynolds: 20, size: 8 });
  await assert.rejects(
    async () => Simulation.create(one, flow, { type: "f64", storage: "f16" }),
    /populations of f64 are not stored as f16, which is rounded from f32: choose the type f32/,
  );
  await assert.rejects(Simulation.create(one, flow, { smagorinsky: 2 }), /a Smagorinsky constant of 2: give one from 0 to 1/);
});
