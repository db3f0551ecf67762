import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { readCheckpoint, writeCheckpoint } from "isoform/io";
import { devices } from "isoform/set";
import { channelFlow } from "../../../apps/navier-stokes/cases/channel.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import type { Given } from "../../../apps/navier-stokes/config/config-keys.js";
import { FORMAT, restarted, restore } from "../../../apps/navier-stokes/simulation/restart.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-"));
const set = await devices("wasm");
after(async () => {
  await set.close();
  await rm(folder, { recursive: true });
});

/** Central fluxes of second order compile fast; a hybrid scheme goes on in layers-same-bits.test.ts. */
const CHANNEL: Given = { nx: 8, ny: 12, nz: 8, reTau: 100, mach: 2, thetaWall: 0.35, cfl: 0.7, order: 2, weno: 3, sensorThreshold: 1.01 };

/** A channel at its start, or where the file of another was written. */
async function begin(given: Given, file?: string): Promise<Simulation> {
  const saved = file === undefined ? undefined : await readCheckpoint(file, { format: FORMAT });
  const config = saved ? restarted("channel", given, saved.metadata, file!) : configOf("channel", given);
  const simulation = await Simulation.create(set, channelFlow(config), { precision: "strict", statsEvery: config.statsEvery });
  if (saved) await restore(simulation, saved);
  return simulation;
}

/** The file of a simulation after so many steps. */
async function save(simulation: Simulation, given: Given, steps: number, name: string): Promise<string> {
  await simulation.run(steps);
  const file = join(folder, name);
  await writeCheckpoint(file, simulation.checkpointed(), { config: configOf("channel", given) }, { format: FORMAT });
  return file;
}

async function ended(simulation: Simulation, steps: number) {
  await simulation.run(steps - simulation.steps);
  const { samples, columns } = await simulation.means();
  const w = await simulation.fields.w.download();
  simulation.free();
  return { samples, columns: [...columns.values()], w };
}

describe("a channel that goes on from a checkpoint", () => {
  const given: Given = { ...CHANNEL, statsEvery: 2 };

  it("has the flow and the statistics of one that was never interrupted, to the bit", async () => {
    const simulation = await begin(given);
    // After an odd number of steps, so that the next sample is one step away.
    const file = await save(simulation, given, 5, "odd");
    const whole = await ended(simulation, 8);
    assert.equal(whole.samples, 4);
    assert.deepEqual(await ended(await begin({}, file), 8), whole);
  });

  it("begins to sample where there are no statistics", async () => {
    const simulation = await begin(CHANNEL);
    const file = await save(simulation, CHANNEL, 4, "none");
    const rest = await ended(await begin({ statsEvery: 2 }, file), 8);
    assert.equal(rest.samples, 2);
    const { samples, w } = await ended(simulation, 8);
    assert.equal(samples, 1);
    assert.deepEqual(w, rest.w);
  });

  it("keeps the statistics that it has", () => {
    const metadata = { config: configOf("channel", given) };
    assert.throws(
      () => restarted("channel", { statsEvery: 0 }, metadata, "a.state"),
      /has statistics of each 2 steps: leave out stats_every/,
    );
  });

  it("is refused where the file is of another program, or tells of another flow", () => {
    assert.throws(() => restarted("channel", {}, { seed: 1 }, "a.state"), /a.state lacks its configuration: start anew/);
    const metadata = { config: configOf("channel", CHANNEL) };
    assert.throws(() => restarted("layer", {}, metadata, "a.state"), /a.state is of the case channel: run isoform navier-stokes channel/);
    assert.throws(
      () => restarted("channel", { reTau: 90 }, metadata, "a.state"),
      /made with re_tau 100, and 90 is asked for: leave it out, or start anew/,
    );
    assert.throws(() => restarted("channel", { dt: 0.01 }, metadata, "a.state"), /made with cfl 0.7: give another cfl in place of dt/);
  });
});
