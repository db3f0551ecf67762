import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Split } from "isoform/grid";
import { devices } from "isoform/set";
import { channelFlow } from "../../../apps/navier-stokes/cases/channel.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import type { Given } from "../../../apps/navier-stokes/config/config-keys.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";

const channel: Given = { nx: 12, ny: 16, nz: 12, lx: 6, lz: 3, reTau: 100, mach: 2, thetaWall: 0.35, cfl: 0.7, sensorThreshold: 0.005 };

/** The flow, its means and its spectra after some steps. */
async function run(name: string, given: Given, split?: Split): Promise<{ w: Float64Array; means: readonly Float64Array[] }> {
  const set = await devices(name);
  const simulation = await Simulation.create(set, channelFlow(configOf("channel", given)), {
    precision: "strict",
    statsEvery: 2,
    spectraEvery: 2,
    split,
  });
  await simulation.run(4);
  const w = (await simulation.fields.w.download()) as Float64Array;
  const { columns } = await simulation.statistics!.read();
  const spectra = await simulation.spectra!.read();
  simulation.free();
  await set.close();
  return { w, means: [...columns.values(), ...[...spectra.values()].flatMap(({ densities }) => densities)] };
}

describe("a channel and its statistics have the same bits in strict mode", () => {
  for (const [title, given] of Object.entries({
    "a hybrid scheme": channel,
    "a thermally perfect gas": { ...channel, gas: "thermal" } as const,
  }))
    it(`with ${title}, on one, two and three members`, async () => {
      const alone = await run("wasm", given);
      assert.ok([alone.w, ...alone.means].every((values) => values.every(Number.isFinite)));
      for (const name of ["wasm*2", "wasm*3", "js"]) assert.deepEqual(await run(name, given), alone, name);
      for (const [name, split] of [["wasm*2", "y"], ["wasm*4", "yz"]] as const) assert.deepEqual(await run(name, given, split), alone, `${name} ${split}`); // prettier-ignore
    });
});
