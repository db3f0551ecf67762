import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { readCheckpoint, writeCheckpoint } from "isoform/io";
import { devices } from "isoform/set";
import { boxFlow } from "../../../apps/navier-stokes/cases/box-flow.js";
import { channelFlow } from "../../../apps/navier-stokes/cases/channel.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import type { Given } from "../../../apps/navier-stokes/config/config-keys.js";
import { FORMAT, restarted, restore } from "../../../apps/navier-stokes/simulation/restart.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";
import { spectraFigure, spectraTable } from "../../../apps/navier-stokes/results/spectra-output.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-"));
const set = await devices("wasm*2");
after(async () => {
  await set.close();
  await rm(folder, { recursive: true });
});

const close = (found: number, wanted: number): void =>
  assert.ok(Math.abs(found - wanted) <= 1e-12 * (1 + Math.abs(wanted)), `${found}, ${wanted}`);

describe("spectra of the velocity", () => {
  it("have waves in their modes, by densities of wave numbers", async () => {
    const config = configOf("box", { flow: "vortex", nx: 16, ny: 8, nz: 12, lx: 4, lz: 3 });
    const [kx, kz] = [(2 * Math.PI) / 4, (2 * Math.PI) / 3];
    // The density changes, and must not be seen.
    const flow = boxFlow(config, (x, y, z) => ({
      rho: 1 + 0.2 * Math.cos(kx * x + y),
      velocity: [3 + 2 * Math.sin(3 * kx * x), Math.cos(2 * kz * z), 0.5],
      p: 1,
    }));
    const simulation = await Simulation.create(set, flow, {});
    const spectra = await simulation.velocitySpectra();
    assert.deepEqual([...spectra.keys()], ["x", "z"]);
    for (const [axis, distance, waves] of [
      [
        "x",
        kx,
        [
          [0, 0, 9],
          [0, 3, 2],
          [1, 0, 0.5],
          [2, 0, 0.25],
        ],
      ],
      [
        "z",
        kz,
        [
          [0, 0, 11],
          [1, 2, 0.5],
          [2, 0, 0.25],
        ],
      ],
    ] as const) {
      const { samples, waves: numbers, densities } = spectra.get(axis)!;
      assert.equal(samples, 1);
      numbers.forEach((k, m) => close(k, m * distance));
      densities.forEach((values, component) =>
        values.forEach((value, n) => {
          const mode = n % numbers.length;
          const [, , energy] = waves.find(([c, m]) => c === component && m === mode) ?? [0, 0, 0];
          close(value * distance, energy);
        }),
      );
    }
    const table = spectraTable({ axis: "x", flow, spectrum: spectra.get("x")!, means: await simulation.means() });
    assert.deepEqual([...table.keys()], ["k", "E_uu", "E_vv", "E_ww"]);
    assert.ok([...table.values()].every(({ length }) => length === 9));
    close(table.get("E_uu")![3] * kx * flow.reference.speed ** 2, 2);
    simulation.free();
  });

  const CHANNEL: Given = { nx: 8, ny: 12, nz: 8, reTau: 100, mach: 2, thetaWall: 0.35, cfl: 0.7, random: true, spectraEvery: 2 };

  it("of a channel sum up to the mean squares, at each height, in units of the wall", async () => {
    const flow = channelFlow(configOf("channel", CHANNEL));
    const simulation = await Simulation.create(set, flow, { statsEvery: 2, spectraEvery: 2 });
    await simulation.run(4);
    const [means, spectra] = [await simulation.means(), await simulation.velocitySpectra()];
    for (const [axis, { samples, waves, densities }] of spectra) {
      assert.equal(samples, 2);
      for (let j = 0; j < 12; j++)
        ["u2", "v2", "w2"].forEach((name, n) => {
          const sum = densities[n].subarray(j * waves.length, (j + 1) * waves.length).reduce((a, b) => a + b, 0) * waves[1];
          close(sum, means.columns.get(name)![j]);
        });
      const of = { axis, flow, spectrum: spectra.get(axis)!, means };
      const table = spectraTable(of);
      assert.deepEqual([...table.keys()], ["y", "y_plus", "k", "E_uu", "E_vv", "E_ww"]);
      assert.equal(table.get("y")!.length, 6 * waves.length);
      assert.match(spectraFigure(of), /Spectra of the velocity along [xz], the mean of 2 samples.*y\+ = .*k_[xz] h/s);
    }
    simulation.free();
  });

  it("go on from a checkpoint, and begin where there are none", async () => {
    const begin = async (given: Given, file?: string): Promise<Simulation> => {
      const saved = file === undefined ? undefined : await readCheckpoint(file, { format: FORMAT });
      const config = saved ? restarted("channel", given, saved.metadata, file!) : configOf("channel", given);
      const { statsEvery, spectraEvery } = config;
      const simulation = await Simulation.create(set, channelFlow(config), { precision: "strict", statsEvery, spectraEvery });
      if (saved) await restore(simulation, saved);
      return simulation;
    };
    const ended = async (simulation: Simulation, steps: number) => {
      await simulation.run(steps - simulation.steps);
      const spectra = await simulation.velocitySpectra();
      simulation.free();
      return spectra;
    };
    const save = async (given: Given, steps: number, name: string): Promise<string> => {
      const [simulation, file] = [await begin(given), join(folder, name)];
      await simulation.run(steps);
      await writeCheckpoint(file, simulation.checkpointed(), { config: configOf("channel", given) }, { format: FORMAT });
      simulation.free();
      return file;
    };
    const whole = await ended(await begin(CHANNEL), 6);
    assert.equal(whole.get("x")!.samples, 3);
    const file = await save(CHANNEL, 3, "some");
    assert.deepEqual(await ended(await begin({}, file), 6), whole);
    await assert.rejects(begin({ spectraEvery: 0 }, file), /has spectra of each 2 steps: leave out spectra_every/);
    const none = await save({ ...CHANNEL, spectraEvery: 0, statsEvery: 2 }, 2, "none");
    assert.equal((await ended(await begin({ spectraEvery: 2 }, none), 6)).get("z")!.samples, 2);
  });
});
