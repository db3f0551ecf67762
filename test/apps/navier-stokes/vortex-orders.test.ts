import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { devices } from "isoform/set";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";
import { SCHEMES, vortex, vortexError } from "./flows.js";

const set = await devices("wasm");

/** Errors of the density at t = 2 on 32, 64 and 128 cells along each axis. */
const ERRORS: Record<keyof typeof SCHEMES, readonly number[]> = {
  c2: [9.4e-3, 2.35e-3, 5.9e-4],
  c4: [1.71e-3, 1.34e-4, 8.86e-6],
  c6: [7.22e-4, 2.19e-5, 4.02e-7],
  c8: [5.75e-4, 5.59e-6, 4.65e-8],
  KEP6: [1.88e-3, 5.01e-5, 9.13e-7],
  WENO5: [4.41e-3, 4.21e-4, 2.31e-5],
  WENO7: [1.93e-3, 1.03e-4, 1.43e-6],
};

describe("an isentropic vortex", () => {
  for (const [name, errors] of Object.entries(ERRORS))
    it(`keeps its density as well as ${name} does`, async () => {
      for (const [n, expected] of errors.entries()) {
        const flow = vortex(32 << n, SCHEMES[name as keyof typeof SCHEMES]);
        const simulation = await Simulation.create(set, flow);
        await simulation.run(200);
        const error = vortexError(await simulation.fields.w.download(), flow, 2);
        assert.ok(Math.abs(error / expected - 1) < 0.01, `${32 << n} cells: ${error}, not ${expected}`);
        simulation.free();
      }
    });

  it("is as good in f32 as rounding allows", async () => {
    const flow = vortex(32, SCHEMES.c6);
    const simulation = await Simulation.create(set, flow, { type: "f32" });
    await simulation.run(200);
    const error = vortexError(await simulation.fields.w.download(), flow, 2);
    assert.ok(Math.abs(error / ERRORS.c6[0] - 1) < 0.01, `${error}`);
    simulation.free();
  });
});
