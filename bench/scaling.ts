import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { dense } from "isoform/grid";
import { devices } from "isoform/set";
import { OCC_LEVELS, skeleton, type OccLevel, type SweepOrder } from "isoform/skeleton";
import { commandLine, parseArgs } from "./command-line.js";
import { cg, lbmProblem } from "./grid-problems.js";

/*
 * Strong scaling of grid applications over the devices of one machine, at every level of OCC, in runs of about so many seconds:
 *   node dist/bench/scaling.js --devices cuda:0,cuda:1,cuda:2,cuda:3 [--counts 1,2,4] [--sizes 256,512] [--occ none,in-kernel,...] [--sweep-order forward,alternating] [--unroll 48] [--seconds 0.05] [--tune] [--json F] [--timelines FOLDER]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "cuda:0,cuda:1,cuda:2,cuda:3" },
    counts: { type: "string", default: "1,2,4" },
    sizes: { type: "string", default: "256,512" },
    only: { type: "string", default: "lbm,cg" },
    occ: { type: "string", default: OCC_LEVELS.join() },
    unroll: { type: "string", default: "48" },
    seconds: { type: "string", default: "0.05" },
    "sweep-order": { type: "string", default: "alternating" },
    tune: { type: "boolean", default: false },
    rounds: { type: "string", default: "5" },
    json: { type: "string" },
    timelines: { type: "string" },
  },
});
const numbers = (text: string) => text.split(",").map(Number);
const [all, rounds] = [options.devices.split(","), Number(options.rounds)];
/** Milliseconds before each run: a GPU that draws more than its limit for half a second lowers its clock for another half. */
const REST = 100;
/** NVLink of one direction between two GPUs of a host, for the planned timelines. */
const LINK = { bandwidth: 300e9, latency: 5e-6 };
const OCC = options.occ.split(",") as OccLevel[];
const sweepOrders = options["sweep-order"].split(",") as SweepOrder[];
const PROBLEMS = { lbm: { problem: lbmProblem, unroll: 2 }, cg: { problem: cg, unroll: Number(options.unroll) } };

interface Row {
  application: string;
  size: number;
  devices: number;
  occ: OccLevel;
  sweepOrder: SweepOrder;
  /** Median over the rounds of the seconds of one iteration. */
  seconds: number;
  mlups: number;
  /** Of the speed of one device, which is measured by turns with it, times their number: the median over the rounds. */
  efficiency: number;
}

type Application = keyof typeof PROBLEMS;

const rows: Row[] = [];
let label = "";
for (const size of numbers(options.sizes))
  for (const application of options.only.split(",") as Application[])
    for (const sweepOrder of sweepOrders) {
      await measureAll(application, size, sweepOrder);
      report();
    }

function report(): void {
  if (!options.json) return;
  mkdirSync(dirname(options.json), { recursive: true });
  const report = {
    command: commandLine("dist/bench/scaling.js"),
    devices: label,
    node: process.version,
    precision: "fast",
    type: "f64",
    rows,
  };
  writeFileSync(options.json, JSON.stringify(report, undefined, 1) + "\n");
}

async function measureAll(application: Application, size: number, sweepOrder: SweepOrder): Promise<void> {
  const alone = await prepare(application, size, 1, OCC[0], sweepOrder);
  for (const count of numbers(options.counts))
    for (const occ of count === 1 ? OCC.slice(0, 1) : OCC) {
      const several = count === 1 ? undefined : await prepare(application, size, count, occ, sweepOrder);
      const samples: { seconds: number; efficiency: number }[] = [];
      for (let round = 0; round < rounds; round++) {
        const one = await alone.run();
        const seconds = several ? await several.run() : one;
        samples.push({ seconds, efficiency: one / seconds / count });
      }
      const seconds = median(samples.map((sample) => sample.seconds));
      const efficiency = median(samples.map((sample) => sample.efficiency));
      rows.push({ application, size, devices: count, occ, sweepOrder, seconds, mlups: size ** 3 / seconds / 1e6, efficiency });
      console.log(
        `${application.padEnd(4)} ${size}^3 ${count} x ${occ.padEnd(9)} ${sweepOrder.padEnd(11)} ${(1e3 * seconds).toFixed(4)} ms  efficiency ${efficiency.toFixed(3)}`,
      );
      if (occ === "two-way") await several?.draw(`${application}-${size}-${count}.svg`);
      await several?.close();
    }
  await alone.close();
}

/** A problem on the first `count` devices. */
async function prepare(application: Application, size: number, count: number, occ: OccLevel, sweepOrder: SweepOrder) {
  const set = await devices(all.slice(0, count), { link: LINK, tune: options.tune });
  label = `${all.length} of ${set.locals[0].device.label}`;
  const { problem, unroll } = PROBLEMS[application];
  const { steps, temporary, restart } = await problem(dense(set, [size, size, size]), "f64");
  const plan = skeleton(set, application, steps, { occ, precision: "fast", temporary, unroll, sweepOrder });
  await plan.run(2 * unroll);
  const once = await plan.run(unroll);
  const iterations = unroll * Math.ceil(Number(options.seconds) / once.seconds);
  return {
    /** Seconds of an iteration, in one run. */
    run: async () => {
      await restart();
      await rest(REST);
      await plan.run(unroll);
      return (await plan.run(iterations)).seconds / iterations;
    },
    draw: async (file: string) => {
      if (!options.timelines) return;
      await plan.run(unroll, { trace: true });
      mkdirSync(options.timelines, { recursive: true });
      writeFileSync(join(options.timelines, file), await plan.timeline("svg"));
    },
    close: async () => {
      plan.free();
      await set.close();
    },
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
