import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { readCheckpoint, writeCheckpoint } from "isoform/io";
import { devices } from "isoform/set";
import { OCC_LEVELS } from "isoform/skeleton";
import { CASE_OF } from "../../../apps/navier-stokes/cases/cases.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import type { Given } from "../../../apps/navier-stokes/config/config-keys.js";
import { Simulation, type Flow, type Settings } from "../../../apps/navier-stokes/simulation/simulation.js";
import { tested } from "../../devices.js";

/* Layers and shocks in strict mode: the hybrid scheme, recycling across members, characteristic edges. */

const folder = await mkdtemp(join(tmpdir(), "isoform-"));
after(() => rm(folder, { recursive: true }));

/** Two planes for each of seven members. */
const small: Given = { nx: 20, ny: 20, nz: 14, nWall: 12, order: 4, weno: 3, sensorThreshold: 0.02, random: true };
/** A name and a flow, whose mean profiles take a second to compute. */
type Case = readonly [name: string, flow: Flow];
const CASES = (["layer", "shock"] as const).map((name): Case => [name, CASE_OF[name].flow(configOf(name, { ...small, recycleX: 12 }))]);
const STEPS = 3;

interface Run extends Partial<Pick<Settings, "occ" | "fuse" | "layout" | "unroll" | "split">> {
  readonly steps?: number;
  readonly restart?: string;
  readonly checkpoint?: string;
}

async function run(devicesName: string, [, flow]: Case, { steps = STEPS, restart, checkpoint, ...settings }: Run = {}) {
  const set = await devices(devicesName);
  const simulation = await Simulation.create(set, flow, { ...settings, precision: "strict" });
  if (restart !== undefined) await (await readCheckpoint(restart)).restore(simulation.checkpointed());
  await simulation.run(steps - simulation.steps);
  if (checkpoint !== undefined) await writeCheckpoint(checkpoint, simulation.checkpointed());
  const [w, time] = [await simulation.fields.w.download(), await simulation.time.get()];
  simulation.free();
  await set.close();
  return { w, time };
}

/** Each level of overlap, fused and not, and each number of members. */
const PLANS = OCC_LEVELS.flatMap((occ, n) => [[[2, 3, 4, 7][n % 4], occ, true] as const, [[7, 4, 3, 2][n % 4], occ, false] as const]);

for (const each of CASES)
  describe(`a ${each[0]} has the same bits`, () => {
    let known: ReturnType<typeof run> | undefined;
    const alone = (): ReturnType<typeof run> => (known ??= run("wasm", each));
    const onWasm = { skip: !tested("wasm") };

    for (const [members, occ, fuse] of each[0] === "layer" ? PLANS : PLANS.filter((_, n) => n % 3 === 0))
      it(`on ${members} members with occ ${occ}, ${fuse ? "fused" : "not fused"}`, onWasm, async () => {
        assert.ok((await alone()).w.every(Number.isFinite));
        assert.deepEqual(await run(`wasm*${members}`, each, { occ, fuse }), await alone());
      });

    it("when it goes on from a checkpoint on another number of members", onWasm, async () => {
      const file = join(folder, each[0]);
      await run("wasm*2", each, { steps: 2, checkpoint: file });
      assert.deepEqual(await run("wasm*3", each, { restart: file }), await alone());
    });

    it("with components together and two steps planned at once", onWasm, async () => {
      assert.deepEqual(await run("wasm*3", each, { layout: "aos", unroll: 2 }), await alone());
    });

    it("on grids that are cut along y, and y and z, which a checkpoint goes on with", onWasm, async () => {
      const file = join(folder, `${each[0]} split`);
      await run("wasm*3", each, { steps: 2, checkpoint: file, split: "y" });
      for (const occ of ["none", "extended"] as const)
        assert.deepEqual(await run("wasm*4", each, { restart: file, split: "yz", occ }), await alone(), occ);
    });

    // Members of a shock's are those of a layer's, and both are seen on wasm
    for (const device of each[0] === "layer" ? ["js", "native", "native*3", "opencl", "opencl*2"] : ["js", "native", "opencl"])
      it(`on ${device}`, { skip: !tested(device) }, async () => assert.deepEqual(await run(device, each), await alone()));
  });
