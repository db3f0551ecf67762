import assert from "node:assert/strict";
import { test } from "node:test";
import { devices } from "isoform/set";
import { channelFlow } from "../../../apps/navier-stokes/cases/channel.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";
import { oneDevice } from "../../devices.js";

for (const name of [oneDevice("js"), `${oneDevice("wasm")}*3`])
  test(`${name} starts a channel with the host's bits`, async () => {
    const set = await devices(name);
    for (const random of [false, true])
      for (const type of ["f64", "f32"] as const) {
        const flow = channelFlow(configOf("channel", { nx: 8, ny: 12, nz: 12, random }));
        const starts = await Promise.all(
          [flow, { ...flow, initialOnDevices: undefined }].map(async (each) => {
            const simulation = await Simulation.create(set, each, { type });
            const start = await simulation.fields.w.download();
            simulation.free();
            return start;
          }),
        );
        assert.ok(new Set(starts[0]).size > 100);
        assert.deepEqual(Buffer.from(starts[0].buffer), Buffer.from(starts[1].buffer), `random ${random}, ${type}`);
      }
    await set.close();
  });
