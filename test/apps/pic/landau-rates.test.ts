import assert from "node:assert/strict";
import { test } from "node:test";
import { doctor, open } from "isoform";
import { CASES } from "../../../apps/pic/simulation/cases.js";
import { missOf } from "../../../apps/pic/judgement/judgement.js";
import { follow, seriesOfMode, type Row } from "../../../apps/pic/simulation/run.js";
import { DEFAULTS } from "../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";

/*
 * Landau damping at several wave numbers against the root of the dispersion relation. A smaller amplitude keeps trapped electrons out, more particles the
 * noise. Measured: -0.2 % at k = 0.5, -0.1 % at 0.4, -1.1 % at 0.3, where the rate is an eightieth of the frequency.
 */

const missing = (await doctor()).find(({ backend }) => backend === "native")?.missing?.reason;
const { problem, defaults, watched, judge } = CASES.find(({ name }) => name === "landau")!;

for (const [k, rate, tolerance, amplitude, particles, time] of [
  [0.3, -0.0126, 0.02, 0.01, 1 << 19, 30],
  [0.4, -0.0661, 0.01, 0.01, 1 << 19, 20],
  [0.5, -0.1533, 0.01, 0.02, 1 << 18, 14],
] as const)
  test(
    `the damping rate at k = ${k} is ${rate} to ${100 * tolerance} %`,
    { skip: missing !== undefined && `native: ${missing}` },
    async () => {
      const device = await open("native");
      try {
        const options = { ...defaults, k, amplitude };
        const simulation = await Simulation.create(device, problem(options), { ...DEFAULTS, count: particles, dt: defaults.dt });
        const rows: Row[] = [];
        await follow(simulation, watched, { time, every: defaults.every }, rows);
        const [damping, frequency] = judge(seriesOfMode(rows), options).comparisons;
        assert.equal(damping.quantity, "damping rate");
        assert.ok(Math.abs(damping.expected! - rate) < 1e-4, `theory has ${damping.expected}`);
        assert.ok(Math.abs(missOf(damping)!) <= tolerance, `the rate is ${damping.fitted}, ${100 * missOf(damping)!} % off`);
        assert.ok(Math.abs(missOf(frequency)!) <= 0.003, `the frequency is ${frequency.fitted}`);
        simulation.free();
      } finally {
        await device.close();
      }
    },
  );
