import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { open } from "isoform";
import { median } from "isoform/portability";
import { CASES } from "../apps/pic/simulation/cases.js";
import { DEFAULTS } from "../apps/pic/simulation/problem.js";
import { TIME_STEP } from "../apps/pic/push/push.js";
import { Simulation } from "../apps/pic/simulation/simulation.js";
import { stepsBetweenSorts } from "../apps/pic/simulation/sorting.js";
import { commandLine, parseArgs } from "./command-line.js";

/*
 * A step of a plasma in three dimensions by how often its particles are sorted by cell, by turns; 0 is never. What `stepsBetweenSorts` chooses is marked.
 *   node dist/bench/pic-sorts.js --device cuda:0 [--particles 10000000] [--cases 3d3v,3d3v-hot] [--sorts 0,1,2,3,4,6,8,12] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    device: { type: "string", default: "cuda:0" },
    particles: { type: "string", default: "10000000" },
    cases: { type: "string", default: "3d3v,3d3v-hot" },
    sorts: { type: "string", default: "0,1,2,3,4,6,8,12" },
    rounds: { type: "string", default: "3" },
    steps: { type: "string", default: "24" },
    json: { type: "string" },
  },
});

const sorts = options.sorts.split(",").map(Number);
const [rounds, steps] = [Number(options.rounds), Number(options.steps)];
const device = await open(options.device);
const rows: { case: string; particles: number; sort: number; ns: number; chosen: boolean }[] = [];

for (const count of options.particles.split(",").map(Number))
  for (const name of options.cases.split(",")) {
    const { problem, defaults } = CASES.find((each) => each.name === name)!;
    const settings = { ...DEFAULTS, count, dt: TIME_STEP };
    const chosen = stepsBetweenSorts(device, problem(defaults), settings);
    const variants: { sort: number; simulation: Simulation; samples: number[] }[] = [];
    for (const sort of sorts) {
      const simulation = await Simulation.create(device, problem(defaults), { ...settings, sort });
      await simulation.run(steps);
      variants.push({ sort, simulation, samples: [] });
    }
    for (let round = 0; round < rounds; round++)
      for (const { simulation, samples } of variants) {
        const start = performance.now();
        await simulation.run(steps);
        samples.push((1e6 * (performance.now() - start)) / steps / count);
      }
    for (const { sort, simulation, samples } of variants) {
      /** A particle and step. */
      const ns = median(samples);
      rows.push({ case: name, particles: count, sort, ns, chosen: sort === chosen });
      console.log(
        `${name.padEnd(9)} ${count} sorted every ${String(sort).padStart(2)}: ${ns.toFixed(3)} ns${sort === chosen ? "  chosen" : ""}`,
      );
      simulation.free();
    }
    if (!sorts.includes(chosen)) console.log(`${name.padEnd(9)} ${count}: every ${chosen} is chosen`);
  }
if (options.json) {
  mkdirSync(dirname(options.json), { recursive: true });
  const report = { command: commandLine("dist/bench/pic-sorts.js"), device: device.label, node: process.version, rounds, steps, rows };
  writeFileSync(options.json, `${JSON.stringify(report, undefined, 1)}\n`);
}
await device.close();
