import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { median } from "isoform/portability";
import { devices } from "isoform/set";
import { CASES } from "../apps/pic/simulation/cases.js";
import { TIME_STEP } from "../apps/pic/push/push.js";
import { DEFAULTS } from "../apps/pic/simulation/problem.js";
import { Simulation } from "../apps/pic/simulation/simulation.js";
import { stepsBetweenSorts } from "../apps/pic/simulation/sorting.js";
import { commandLine, parseArgs } from "./command-line.js";

/*
 * Strong scaling of a plasma in three dimensions over the devices of one machine: a whole step of Strang's composition, by turns with one device.
 *   node dist/bench/pic-scaling.js --devices cuda:0,cuda:1 [--counts 2] [--particles 100000000] [--sort 0] [--json F]
 * Particles are sorted as often as the command chooses, unless --sort tells.
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "cuda:0,cuda:1" },
    counts: { type: "string" },
    particles: { type: "string", default: "100000000" },
    sort: { type: "string" },
    rounds: { type: "string", default: "5" },
    steps: { type: "string", default: "10" },
    json: { type: "string" },
  },
});

/** Milliseconds before each run: a GPU that draws more than its limit for half a second lowers its clock for another half. */
const REST = 200;

const all = options.devices.split(",");
const counts = options.counts ? options.counts.split(",").map(Number) : [all.length];
const [particles, rounds, steps] = [Number(options.particles), Number(options.rounds), Number(options.steps)];
const { problem, defaults } = CASES.find(({ name }) => name === "3d3v")!;
const unsorted = { ...DEFAULTS, count: particles, dt: TIME_STEP };
let label = "";

/** The plasma on the first `count` devices, compiled and warm. */
async function prepare(count: number) {
  const set = await devices(all.slice(0, count));
  label = `${all.length} of ${set.locals[0].device.label}`;
  const sort = options.sort ? Number(options.sort) : stepsBetweenSorts(set.locals[0].device, problem(defaults), unsorted);
  const simulation = await Simulation.create(set, problem(defaults), { ...unsorted, sort });
  await simulation.run(steps);
  return {
    sort,
    /** Nanoseconds a particle and step of one run. */
    run: async () => {
      await rest(REST);
      const start = performance.now();
      await simulation.run(steps);
      return (1e6 * (performance.now() - start)) / steps / particles;
    },
    close: async () => {
      simulation.free();
      await set.close();
    },
  };
}

const rows = [];
const alone = await prepare(1);
for (const count of counts) {
  const several = await prepare(count);
  const samples: { one: number; time: number; efficiency: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const one = await alone.run();
    const time = await several.run();
    samples.push({ one, time, efficiency: one / time / count });
  }
  await several.close();
  const of = (name: keyof (typeof samples)[0]): number => median(samples.map((sample) => sample[name]));
  const row = {
    devices: count,
    sort: several.sort,
    /** Nanoseconds a particle and step of one device and of all: medians over the rounds. */
    one: of("one"),
    time: of("time"),
    /** Of the speed of one device, measured by turns with it, times their number: the median over the rounds. */
    efficiency: of("efficiency"),
  };
  rows.push(row);
  console.log(
    `${count} devices: ${row.time.toFixed(4)} ns a particle and step, one ${row.one.toFixed(4)}, sorted every ${row.sort}, efficiency ${row.efficiency.toFixed(3)}`,
  );
}
await alone.close();
if (options.json) {
  const report = { command: commandLine("dist/bench/pic-scaling.js"), devices: label, node: process.version };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, `${JSON.stringify({ ...report, particles, rounds, steps, rows }, undefined, 1)}\n`);
}
