import assert from "node:assert/strict";
import { test } from "node:test";
import { devices } from "isoform/set";
import { flowOf } from "../../../apps/navier-stokes/cases/cases.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import { requireFlow } from "../../../apps/navier-stokes/simulation/run.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";

test("a flow that is none any more is told with cell, step and remedy", async () => {
  const set = await devices("js");
  const simulation = await Simulation.create(set, flowOf(configOf("tube", { nx: 20 })));
  await simulation.run(1);
  const sound = await simulation.progress();
  await requireFlow(simulation, sound);
  await assert.rejects(requireFlow(simulation, { ...sound, density: [-1, 1] }), /were not above 0 before step 1: choose a smaller cfl/);
  for (const [values, what] of [
    [[-1, 0, 0, 0, 2], "has a negative density"],
    // A kinetic energy of 2.
    [[1, 2, 0, 0, 1], "has a negative pressure"],
    [[1, NaN, 0, 0, 1], "is NaN"],
  ] as const) {
    simulation.fields.w.fill((x, _y, _z, k) => (x === 7 ? values : [1, 0, 0, 0, 2.5])[k]);
    await assert.rejects(requireFlow(simulation, sound), (error: Error) => {
      assert.equal(error.name, "FlowError");
      assert.match(error.message, new RegExp(`the flow ${what} in cell \\(7, 0, 0\\) after step 1: choose a smaller cfl, more cells`));
      return true;
    });
  }
  simulation.free();
  await set.close();
});

test("of a gas whose heat capacities change, with energies below 0, the temperature counts", async () => {
  const set = await devices("js");
  const simulation = await Simulation.create(set, flowOf(configOf("box", { nx: 8, ny: 8, order: 2, sensorThreshold: 2, gas: "thermal" })));
  await simulation.run(1);
  const sound = await simulation.progress();
  await requireFlow(simulation, sound);
  assert.ok((await simulation.fields.w.download())[4] < 0);
  simulation.fields.T.fill((x, y) => (x === 3 && y === 5 ? -1 : 1));
  await assert.rejects(requireFlow(simulation, sound), /has a negative pressure in cell \(3, 5, 0\) after step 1/);
  simulation.free();
  await set.close();
});
