import assert from "node:assert/strict";
import { test } from "node:test";
import { devices } from "isoform/set";
import { meshOf } from "../../../apps/pic/mesh/mesh.js";
import { DEFAULTS, type Problem } from "../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";
import { fakeHip } from "../../device/hip/fake.js";

const fake = await fakeHip();
const PLASMA: Problem = {
  mesh: meshOf([16], [5], 3, 2),
  species: [{ name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [1, 2] }], perturbation: { amplitude: 0.3, mode: 1 } }],
  magnetic: { field: (x) => [0, 0, Math.cos((2 * Math.PI * x[0]) / 5)] },
};

async function stateOn(spec: string) {
  const set = await devices(spec);
  try {
    const simulation = await Simulation.create(set, PLASMA, { ...DEFAULTS, count: 300, dt: 0.05, precision: "strict" });
    await simulation.run(10);
    const state = await simulation.state();
    simulation.free();
    return state;
  } finally {
    await set.close();
  }
}

test("two GPUs, a graph for each step, have the bits of two shares of js", { skip: typeof fake === "string" && fake }, async () => {
  if (typeof fake === "string") return;
  const expected = await stateOn("js*2");
  for (const spec of ["hip:0,hip:1", "hip:0*2"]) assert.deepEqual(await stateOn(spec), expected);
  assert.equal(fake.complaints(), "");
});
