import assert from "node:assert/strict";
import { it } from "node:test";
import { devices } from "isoform/set";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import { layerFlow } from "../../../apps/navier-stokes/cases/layer-flow.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";
import { STATISTICS } from "../../../apps/navier-stokes/measures/statistics-names.js";
import { AVERAGES, PLACES } from "./golden-statistics.js";

/** Of the original's derivatives along z, whose ghosts are those before the step: means that are 0 but for that. */
const SMALL = 5e-11;

it("the averages of a layer are those of the original, in its order", async () => {
  const set = await devices("wasm");
  const simulation = await Simulation.create(set, layerFlow(configOf("layer", { dt: 1e-8 })), { statsEvery: 1 });
  await simulation.run(1);
  const { columns, extents } = await simulation.statistics!.read();
  const misses = STATISTICS.flatMap(({ name }, n) => {
    const scale = Math.max(...AVERAGES[n].map(Math.abs));
    return PLACES.flatMap(([i, j], at) => {
      const [found, expected] = [columns.get(name)![i + extents[0] * j], AVERAGES[n][at]];
      return Math.abs(found - expected) <= 1e-7 * scale + SMALL ? [] : [`${name} at (${i}, ${j}): ${found} is not ${expected}`];
    });
  });
  assert.deepEqual(misses, []);
  simulation.free();
  await set.close();
});
