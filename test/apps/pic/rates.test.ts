import assert from "node:assert/strict";
import { test } from "node:test";
import { doctor, open } from "isoform";
import { CASES } from "../../../apps/pic/simulation/cases.js";
import { missOf } from "../../../apps/pic/judgement/judgement.js";
import { follow, seriesOfMode, type Row } from "../../../apps/pic/simulation/run.js";
import { DEFAULTS } from "../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";

/* Whole runs against theory, where there is a compiler of C: some seconds each. validation.ts has all cases with all their particles. */

const missing = (await doctor()).find(({ backend }) => backend === "native")?.missing?.reason;

for (const [name, particles, time] of [
  ["weibel", 1 << 16, 180],
  ["landau", 1 << 17, 13],
  ["two-stream", 1 << 17, 20],
] as const)
  test(`${name} has the rate of its dispersion relation`, { skip: missing !== undefined && `native: ${missing}` }, async () => {
    const { problem, defaults, watched, judge } = CASES.find((each) => each.name === name)!;
    const device = await open("native");
    try {
      const simulation = await Simulation.create(device, problem(defaults), { ...DEFAULTS, count: particles, dt: defaults.dt });
      const rows: Row[] = [];
      await follow(simulation, watched, { time, every: defaults.every }, rows);
      const { comparisons } = judge(seriesOfMode(rows), defaults);
      assert.ok(comparisons.length > 0);
      for (const each of comparisons)
        assert.ok(Math.abs(missOf(each)!) <= each.tolerance!, `the ${each.quantity} is ${each.fitted}, not ${each.expected}`);
      simulation.free();
    } finally {
      await device.close();
    }
  });
