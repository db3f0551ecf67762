import { setTimeout as rest } from "node:timers/promises";
import { writeFileSync } from "node:fs";
import { dense } from "isoform/grid";
import { devices, type DeviceSet } from "isoform/set";
import { OCC_LEVELS, skeleton, type OccLevel } from "isoform/skeleton";
import { commandLine, parseArgs } from "./command-line.js";
import { cg, lbmProblem } from "./grid-problems.js";

/*
 * An iteration of lattice Boltzmann and of conjugate gradients over several GPUs: of one process, or of the processes of mpirun. Run both by turns:
 *   node dist/bench/ranks.js --devices cuda:0,cuda:1
 *   mpirun -n 2 node dist/bench/ranks.js --devices mpi:cuda [--link nccl] [--cases lbm:256,cg:256] [--occ none,standard] [--unroll 48] [--seconds 0.1] [--rounds 5] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "cuda:0,cuda:1" },
    link: { type: "string" },
    cases: { type: "string", default: "lbm:256,lbm:512,cg:256,cg:512" },
    occ: { type: "string", default: "standard" },
    unroll: { type: "string", default: "48" },
    seconds: { type: "string", default: "0.1" },
    rounds: { type: "string", default: "5" },
    json: { type: "string" },
  },
});
/** Milliseconds before each run: a GPU that draws more than its limit for half a second lowers its clock for another half. */
const REST = 100;
const PROBLEMS = { lbm: { problem: lbmProblem, unroll: 2 }, cg: { problem: cg, unroll: Number(options.unroll) } };

const set = await devices(options.devices, options.link === undefined ? {} : { link: options.link as "nccl" | "mpi" });
const isFirst = (set.ranks?.rank ?? 0) === 0;
const carried = set.carried
  ? `${set.carried.by} ${set.carried.by === "MPI" ? `(${set.carried.why})` : `${set.carried.version}, totals by ${set.carried.totals.by}`}`
  : "one process";
const rows: { application: string; size: number; occ: OccLevel; seconds: number; runs: number[] }[] = [];
if (isFirst) console.log(`${options.devices}: ${set.locals[0].device.label}; ${carried}`);
for (const word of options.cases.split(","))
  for (const occ of OCC_LEVELS.filter((level) => options.occ.split(",").includes(level))) {
    const [application, size] = word.split(":");
    const runs = await measure(set, application as keyof typeof PROBLEMS, Number(size), occ);
    const seconds = runs.toSorted((a, b) => a - b)[runs.length >> 1];
    rows.push({ application, size: Number(size), occ, seconds, runs });
    if (isFirst) console.log(`${application.padEnd(4)} ${size}^3 ${occ.padEnd(9)} ${(1e3 * seconds).toFixed(4)} ms`);
  }
if (options.json && isFirst)
  writeFileSync(
    options.json,
    JSON.stringify({ command: commandLine("dist/bench/ranks.js"), device: set.locals[0].device.label, carried, rows }, undefined, 1) + "\n",
  );
await set.close();

/** Seconds of an iteration, of the slowest rank, in each round. */
async function measure(on: DeviceSet, application: keyof typeof PROBLEMS, size: number, occ: OccLevel): Promise<number[]> {
  const { problem, unroll } = PROBLEMS[application];
  const grid = dense(on, [size, size, size]);
  const { steps, temporary, restart } = await problem(grid, "f64");
  const plan = skeleton(on, application, steps, { occ, precision: "fast", temporary, unroll, sweepOrder: "alternating" });
  const slowest = async (seconds: number): Promise<number> =>
    Math.max(...(on.ranks ? await on.ranks.gather(seconds, "seconds of a run") : [seconds]));
  await plan.run(2 * unroll);
  const once = await slowest((await plan.run(unroll)).seconds);
  const iterations = unroll * Math.ceil(Number(options.seconds) / once);
  const runs: number[] = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    await restart();
    await rest(REST);
    await plan.run(unroll);
    runs.push((await slowest((await plan.run(iterations)).seconds)) / iterations);
  }
  plan.free();
  grid.free();
  return runs;
}
