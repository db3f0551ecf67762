import assert from "node:assert/strict";
import type { DeviceSet } from "isoform/set";
import { channelFlow } from "../../../apps/navier-stokes/cases/channel.js";
import { camelCase, configOf } from "../../../apps/navier-stokes/config/config.js";
import type { CaseName, Config, Given } from "../../../apps/navier-stokes/config/config-keys.js";
import { layerFlow } from "../../../apps/navier-stokes/cases/layer-flow.js";
import { compareProgress, readProgressLine } from "./read-progress.js";
import { Simulation, type Flow, type Settings } from "../../../apps/navier-stokes/simulation/simulation.js";
import { GOLDEN, type GoldenLines } from "./golden.js";

const LAYER: Given = {
  nx: 128,
  ny: 64,
  nz: 16,
  lx: 20,
  lz: 3,
  dyPlus: 0.8,
  nWall: 40,
  lWall: 2.5,
  reTau: 200,
  mach: 2,
  thetaWall: 1,
  cfl: 0.7,
};
const RECYCLING: Given = { ...LAYER, sensorThreshold: 0.2, recycleX: 15 };

const SETS: Record<GoldenLines["set"], readonly [CaseName, Given]> = {
  A: [
    "channel",
    { nx: 32, ny: 36, nz: 32, lx: 12, lz: 6, dyPlus: 0.7, reTau: 180, mach: 0.2, thetaWall: -2.5, cfl: 0.8, sensorThreshold: 1.01 },
  ],
  B: [
    "channel",
    { nx: 32, ny: 48, nz: 32, lx: 6, lz: 3, dyPlus: 0.8, reTau: 490, mach: 2, thetaWall: 0.35, cfl: 0.7, sensorThreshold: 0.2 },
  ],
  C: ["layer", { ...RECYCLING, ly: 12 }],
  D: ["layer", { ...LAYER, ly: 12, nx: 64, nz: 8, inflow: "laminar", re: 1000, reTau: 1000, cfl: 0.4, sensorThreshold: 0.2 }],
  E: ["shock", { ...RECYCLING, shockAngle: 38.774266, shockX: 12 }],
};

/** How far columns may be off: all digits but for the last place; of D less, as the original ends shooting for its laminar layer at 1e-6. */
export const CLOSE: Record<GoldenLines["set"], number> = { A: 1e-10, B: 1e-10, C: 1e-10, D: 1e-5, E: 1e-10 };

export const linesOf = (set: GoldenLines["set"]): GoldenLines[] => GOLDEN.filter((golden) => golden.set === set);

export function goldenConfig({ set, keys }: Pick<GoldenLines, "set" | "keys">): Config {
  const [name, values] = SETS[set];
  const given = Object.fromEntries(Object.entries(keys).map(([key, value]) => [camelCase(key), value])) as Given;
  const config = { ...values, ...given };
  return configOf(name, config.dt === undefined ? config : { ...config, cfl: undefined });
}

export function goldenFlow(golden: Pick<GoldenLines, "set" | "keys">): Flow {
  const config = goldenConfig(golden);
  return config.case === "channel" ? channelFlow(config) : layerFlow(config);
}

/** Runs to the steps of the lines, at most `last`, and compares with them. */
export async function followsLines(
  devices: DeviceSet,
  golden: GoldenLines,
  last = Infinity,
  settings: Partial<Settings> = {},
): Promise<void> {
  const simulation = await Simulation.create(devices, goldenFlow(golden), settings);
  for (const expected of golden.lines.map(readProgressLine).filter(({ step }) => step <= last)) {
    await simulation.run(expected.step - simulation.steps);
    for (const { column, value, expected: other, error } of compareProgress(await simulation.progress(), expected))
      assert.ok(error < CLOSE[golden.set], `step ${expected.step}, ${column}: ${value}, not ${other}`);
  }
  simulation.free();
}
