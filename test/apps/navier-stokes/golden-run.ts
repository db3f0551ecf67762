import { configOf, givenOf } from "../../../apps/navier-stokes/config.js";
import type { CaseName, Config } from "../../../apps/navier-stokes/config-keys.js";
import { compareProgress, readProgressLine, type Difference } from "../../../apps/navier-stokes/progress-line.js";
import { Simulation, type Flow } from "../../../apps/navier-stokes/simulation.js";
import type { DeviceSet } from "isoform/set";
import { GOLDEN, type GoldenLines } from "./golden.js";

const LAYER = {
  nx: 128,
  ny: 64,
  nz: 16,
  lx: 20,
  ly: 12,
  lz: 3,
  dy_plus: 0.8,
  n_wall: 40,
  l_wall: 2.5,
  re_tau: 200,
  mach: 2,
  theta_wall: 1,
  cfl: 0.7,
};
const SETS: Record<GoldenLines["set"], readonly [CaseName, Record<string, unknown>]> = {
  A: [
    "channel",
    { nx: 32, ny: 36, nz: 32, lx: 12, lz: 6, dy_plus: 0.7, re_tau: 180, mach: 0.2, theta_wall: -2.5, cfl: 0.8, sensor_threshold: 1.01 },
  ],
  B: [
    "channel",
    { nx: 32, ny: 48, nz: 32, lx: 6, lz: 3, dy_plus: 0.8, re_tau: 490, mach: 2, theta_wall: 0.35, cfl: 0.7, sensor_threshold: 1.01 },
  ],
  C: ["layer", { ...LAYER, sensor_threshold: 0.2, recycle_x: 15 }],
  D: ["layer", { ...LAYER, nx: 64, nz: 8, inflow: "laminar", re: 1000, re_tau: 1000, cfl: 0.4, sensor_threshold: 0.2 }],
  E: ["shock", { ...LAYER, ly: undefined, sensor_threshold: 0.2, recycle_x: 15, shock_angle: 38.774266, shock_x: 12 }],
};

/** The configuration of lines of the original solver. */
export function configOfGolden({ set, keys }: GoldenLines): Config {
  const [name, values] = SETS[set];
  const { cfl, ...others } = { ...values, ...keys } as Record<string, unknown>;
  const all = Object.entries({ ...others, ...(keys.dt === undefined && { cfl }) }).filter(([, value]) => value !== undefined);
  return configOf(name, givenOf(Object.fromEntries(all), "golden", name));
}

/** Runs a flow to the steps of the lines; how far off each column is. */
export async function compareWithGolden(
  set: DeviceSet,
  name: string,
  flowOf: (config: Config) => Flow,
  precision: "strict" | "fast" = "strict",
  lines = 3,
): Promise<Difference[]> {
  const golden = GOLDEN.find((each) => each.name === name)!;
  const simulation = await Simulation.create(set, flowOf(configOfGolden(golden)), { precision });
  const differences: Difference[] = [];
  for (const line of golden.lines.slice(0, lines)) {
    const expected = readProgressLine(line);
    await simulation.run(expected.step - simulation.steps);
    differences.push(
      ...compareProgress(await simulation.progress(), expected).map((each) => ({
        ...each,
        column: `${each.column} at step ${expected.step}`,
      })),
    );
  }
  simulation.free();
  return differences;
}
