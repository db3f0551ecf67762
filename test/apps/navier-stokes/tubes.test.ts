import assert from "node:assert/strict";
import { it } from "node:test";
import { devices } from "isoform/set";
import { placesOf, tubeFlow } from "../../../apps/navier-stokes/box-flow.js";
import { configOf } from "../../../apps/navier-stokes/config.js";
import type { Given } from "../../../apps/navier-stokes/config-keys.js";
import { Simulation } from "../../../apps/navier-stokes/simulation.js";
import { sod } from "../../../apps/navier-stokes/tube.js";

const set = await devices("wasm");

/** Mean error of the density in Sod's tube at time 0.2. */
async function errorOf(n: number, given: Given): Promise<number> {
  const flow = tubeFlow(configOf("tube", { nx: n, ...given }));
  const simulation = await Simulation.create(set, flow);
  await simulation.run(n);
  const w = await simulation.fields.w.download();
  simulation.free();
  return placesOf(flow).reduce((sum, x, i) => sum + Math.abs(w[5 * i] - sod.exact!(x, 0.2).rho), 0) / n;
}

for (const [name, given, expected] of [
  ["WENO5", {}, [5.81e-3, 3.07e-3, 1.59e-3]],
  ["WENO5 Z", { wenoZ: true }, [4.71e-3, 2.47e-3, 1.28e-3]],
  ["WENO7", { weno: 7, order: 8 }, [4.94e-3, 2.59e-3, 1.33e-3]],
  ["WENO3", { weno: 3, order: 4 }, [8.36e-3, 4.56e-3, 2.45e-3]],
  ["Rusanov", { splitting: "rusanov" }, [6.5e-3, 3.34e-3, 1.72e-3]],
  ["hybrid", { sensorThreshold: 0.01 }, [5.27e-3, 2.83e-3, 1.48e-3]],
] as const)
  it(`Sod's tube has the published errors with ${name}`, async () => {
    for (const [n, error] of expected.entries()) {
      const found = await errorOf(100 * 2 ** n, given);
      assert.ok(Math.abs(found / error - 1) < 0.02, `${100 * 2 ** n} cells: ${found}, not ${error}`);
    }
  });
