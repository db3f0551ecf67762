import assert from "node:assert/strict";
import { it } from "node:test";
import { devices } from "isoform/set";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";
import { SCHEMES, vortex, vortexError } from "./flows.js";

const set = await devices("wasm");

/** Error of the density at t = 2 on 32 x 32 cells. */
for (const [name, expected] of [
  ["c6", 7.22e-4],
  ["WENO5", 4.41e-3],
] as const)
  it(`an isentropic vortex keeps its density as well as ${name} does`, async () => {
    const flow = vortex(32, SCHEMES[name]);
    const simulation = await Simulation.create(set, flow);
    await simulation.run(200);
    const error = vortexError(await simulation.fields.w.download(), flow, 2);
    assert.ok(Math.abs(error / expected - 1) < 0.01, `${error}, not ${expected}`);
    simulation.free();
  });
