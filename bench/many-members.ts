import { writeFileSync } from "node:fs";
import { f64, sum } from "isoform";
import { dense } from "isoform/grid";
import { devices } from "isoform/set";
import { skeleton } from "isoform/skeleton";
import { commandLine, parseArgs } from "./command-line.js";

/*
 * The host's part of a stencil and a sum on many members of one process, strict, in processor seconds:
 *   node dist/bench/many-members.js [--members 256] [--json F]
 */

const { values: options } = parseArgs({ options: { members: { type: "string", default: "256" }, json: { type: "string" } } });
const members = Number(options.members);
/** Iterations of a measurement, once all plans are made. */
const ITERATIONS = 20;

const set = await devices(`js*${members}`);
const grid = dense(set, [4, 4, 2 * members], { periodic: true });
const [f, g] = ["f", "g"].map((name) => grid.field(name, f64));
const total = grid.scalar("total", f64);
const spread = grid.container("spread", { f, g }, ({ f, g }, c) => {
  g[c] = 0.5 * (f.at(c, 0, 0, 1) + f.at(c, 0, 0, -1));
});
const added = grid.container("total", { g, f, total: sum(total) }, ({ g, f, total }, c) => {
  f[c] = g[c];
  total.add(g[c]);
});
f.fill((x, y, z) => x + y * z);
g.fill(0);

/** Processor seconds that work takes, on all threads. */
async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begin = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begin);
  return Number(((user + system) / 1e6).toFixed(4));
}

const rows: Record<string, number>[] = [];
for (const name of ["first", "second"]) {
  const sequence = skeleton(set, name, [spread, added], { precision: "strict" });
  // The two containers become one, which stores f in a second buffer: each of the two has a plan, and a third begins with stale halos.
  const plans = [];
  for (let n = 0; n < 3; n++) plans.push(await secondsOf(() => sequence.run(1)));
  const timeline = await secondsOf(() => sequence.timeline());
  await sequence.run(ITERATIONS);
  const iteration = (await secondsOf(() => sequence.run(ITERATIONS))) / ITERATIONS;
  rows.push({ firstPlan: plans[0], secondPlan: plans[1], thirdPlan: plans[2], timeline, iteration });
}
console.table(rows);
if (options.json)
  writeFileSync(options.json, `${JSON.stringify({ command: commandLine("dist/bench/many-members.js"), members, rows }, undefined, 1)}\n`);
await set.close();
