import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { f64, sum } from "isoform";
import { dense } from "isoform/grid";
import { devices } from "isoform/set";
import { skeleton, type Step } from "isoform/skeleton";
import { commandLine, parseArgs } from "./command-line.js";

/*
 * What an iteration of a skeleton costs the host: sequences of containers over so few cells that computing takes next to nothing, not fused.
 *   node dist/bench/overhead.js [--devices wasm,native] [--containers 1,10,30,100] [--size 4] [--rounds 15] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "wasm,native" },
    containers: { type: "string", default: "1,10,30,100" },
    size: { type: "string", default: "4" },
    rounds: { type: "string", default: "15" },
    json: { type: "string" },
  },
});
const [size, rounds] = [options.size, options.rounds].map(Number);
/** Iterations of a round: fewer than a driver holds in a queue. */
const ITERATIONS = 200;
/** Of a sequence with reductions every so many containers is one. */
const REDUCING = 5;

interface Row {
  device: string;
  containers: number;
  reductions: number;
  /** Seconds of the host for an iteration, until it is submitted; median over the rounds, and the least. */
  host: number;
  least: number;
  /** Seconds of an iteration until it has run, median over the rounds. */
  seconds: number;
}

const rows: Row[] = [];
for (const device of options.devices.split(","))
  for (const containers of options.containers.split(",").map(Number))
    for (const reducing of [false, true]) await measure(device, containers, reducing);
if (options.json) {
  mkdirSync(dirname(options.json), { recursive: true });
  const report = { command: commandLine("dist/bench/overhead.js"), node: process.version, cells: size ** 3, rows };
  writeFileSync(options.json, JSON.stringify(report, undefined, 1) + "\n");
}

async function measure(device: string, containers: number, reducing: boolean): Promise<void> {
  const set = await devices(device);
  const grid = dense(set, [size, size, size]);
  const [x, y] = ["x", "y"].map((name) => grid.field(name, f64));
  const total = grid.scalar("total", f64);
  await x.fill(1);
  await y.fill(1);
  const reduces = (n: number) => reducing && n % REDUCING === 0;
  const steps = Array.from({ length: containers }, (_, n): Step => {
    const [from, to] = n % 2 === 0 ? [x, y] : [y, x];
    if (reduces(n)) return grid.container(`sum ${n}`, { from, total: sum(total) }, ({ from, total }, c) => total.add(from[c]));
    return grid.container(`step ${n}`, { from, to }, ({ from, to }, c) => {
      to[c] = 0.5 * from[c] + 1;
    });
  });
  const plan = skeleton(set, "overhead", steps, { fuse: false, precision: "fast" });
  await plan.run(ITERATIONS);
  const [host, seconds]: number[][] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    for (let n = 0; n < ITERATIONS; n++) plan.submit(1);
    host.push((performance.now() - begin) / 1e3 / ITERATIONS);
    seconds.push((await plan.run(ITERATIONS)).seconds / ITERATIONS);
  }
  const row = {
    device: set.locals[0].device.label,
    containers,
    reductions: steps.filter((_, n) => reduces(n)).length,
    host: median(host),
    least: Math.min(...host),
    seconds: median(seconds),
  };
  rows.push(row);
  const us = (value: number) => `${(1e6 * value).toFixed(1)} us`;
  console.log(
    `${device.padEnd(8)} ${`${containers}`.padStart(3)} containers, ${`${row.reductions}`.padStart(2)} of them reductions: host ${us(row.host)} (least ${us(row.least)}), until done ${us(row.seconds)}`,
  );
  plan.free();
  await set.close();
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
