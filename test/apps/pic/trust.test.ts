import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "isoform";
import { CASES } from "../../../apps/pic/simulation/cases.js";
import { follow, seriesOfMode, type Row } from "../../../apps/pic/simulation/run.js";
import { DEFAULTS } from "../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";

/* Noise of few particles misleads fits by much more than they leave over: the error bars know. */

const { problem, defaults, watched, judge } = CASES.find(({ name }) => name === "landau")!;

for (const [k, particles] of [
  [0.3, 4096],
  [0.4, 16384],
] as const)
  test(`${particles} particles do not give the damping at k = ${k}, and the run says so`, async () => {
    const device = await open("wasm");
    const options = { ...defaults, k };
    const simulation = await Simulation.create(device, problem(options), { ...DEFAULTS, count: particles, dt: 0.1 });
    const rows: Row[] = [];
    await follow(simulation, watched, { time: 16, every: 2 }, rows);
    const { comparisons, remark } = judge(seriesOfMode(rows), options);
    const { fitted, expected, error, tolerance } = comparisons[0];
    const miss = Math.abs(fitted - expected!);
    assert.ok(error! > tolerance! * Math.abs(expected!) && miss < 3 * error!, `${fitted} +- ${error}, not ${expected}`);
    assert.match(remark!, /the damping rate is known to .* % only, an error bar of 0\.\d+: noise, /);
    simulation.free();
    await device.close();
  });
