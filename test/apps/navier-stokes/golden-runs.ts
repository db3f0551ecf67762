import assert from "node:assert/strict";
import type { DeviceSet } from "isoform/set";
import { channelFlow } from "../../../apps/navier-stokes/channel.js";
import { camelCase, configOf } from "../../../apps/navier-stokes/config.js";
import type { Given } from "../../../apps/navier-stokes/config-keys.js";
import { compareProgress, readProgressLine } from "../../../apps/navier-stokes/progress-line.js";
import { Simulation, type Settings } from "../../../apps/navier-stokes/simulation.js";
import { GOLDEN, type GoldenLines } from "./golden.js";

/** Channels, by set. */
const CHANNELS: Partial<Record<GoldenLines["set"], Given>> = {
  A: { nx: 32, ny: 36, nz: 32, lx: 12, lz: 6, dyPlus: 0.7, reTau: 180, mach: 0.2, thetaWall: -2.5, cfl: 0.8, sensorThreshold: 1.01 },
  B: { nx: 32, ny: 48, nz: 32, lx: 6, lz: 3, dyPlus: 0.8, reTau: 490, mach: 2, thetaWall: 0.35, cfl: 0.7, sensorThreshold: 0.2 },
};

/** All digits of a line agree, but for the last place. */
const CLOSE = 1e-10;

export const linesOf = (set: GoldenLines["set"]): GoldenLines[] => GOLDEN.filter((golden) => golden.set === set);

export function goldenFlow({ set, keys }: GoldenLines) {
  const given = Object.fromEntries(Object.entries(keys).map(([name, value]) => [camelCase(name), value])) as Given;
  const config = { ...CHANNELS[set], ...given };
  return channelFlow(configOf("channel", config.dt === undefined ? config : { ...config, cfl: undefined }));
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
      assert.ok(error < CLOSE, `step ${expected.step}, ${column}: ${value}, not ${other}`);
  }
  simulation.free();
}
