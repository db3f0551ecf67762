import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { open, type Device } from "isoform";
import { CASES } from "../apps/pic/simulation/cases.js";
import { agrees, difference, LAYOUTS, Push, TIME_STEP, tolerances, type DepositWay, type Layout } from "../apps/pic/push/push.js";
import { DEFAULTS } from "../apps/pic/simulation/problem.js";
import { Simulation } from "../apps/pic/simulation/simulation.js";
import { stepsBetweenSorts } from "../apps/pic/simulation/sorting.js";
import { FLAGS } from "./baselines.js";
import { commandLine, parseArgs } from "./command-line.js";
import { inC, medianOf } from "./pic-by-hand.js";

/*
 * apps/pic on CPUs, a process for each number of threads: the operator H_p1 on particles as they are loaded and sorted by cell, by turns with the same by
 * hand in C/OpenMP (baselines/pic.c); a sort; and a whole step of Strang's composition in three dimensions, with sorts and without.
 *   node dist/bench/pic-cpu.js [--devices native,wasm] [--threads 1,2] [--particles 2000000] [--rounds 3] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "native,wasm" },
    threads: { type: "string", default: `1,${cpus().length}` },
    layouts: { type: "string", default: "soa,aos" },
    particles: { type: "string", default: "2000000" },
    rounds: { type: "string", default: "3" },
    calls: { type: "string", default: "3" },
    json: { type: "string" },
  },
});

interface Row {
  threads: number;
  device: string;
  layout: Layout;
  what: string;
  /** Medians and least values, a particle and call, or step. */
  ns: number;
  least: number;
  /** Median over the rounds of the time by hand, of particles as they are loaded, divided by this one's. */
  ratio?: number;
}

/** What is measured by turns with others: gives nanoseconds a particle. */
interface Variant extends Pick<Row, "what"> {
  ns(): Promise<number>;
}

const particles = Number(options.particles);
const calls = Number(options.calls);
const nanoseconds = (seconds: number): number => (1e9 * seconds) / particles;
const threads = options.threads.split(",").map(Number);
const rows = threads.length === 1 ? await measureAll(threads[0]) : threads.flatMap(inProcess);
if (options.json) {
  const host = { processor: cpus()[0].model, node: process.version, compiler: process.env.CC ?? "gcc", flags: FLAGS.join(" ") };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(
    options.json,
    JSON.stringify({ command: commandLine("dist/bench/pic-cpu.js"), host, particles, rows }, undefined, 1) + "\n",
  );
}

/** The rows that this program makes with so many threads in a process of its own. */
function inProcess(count: number): Row[] {
  const folder = mkdtempSync(join(tmpdir(), "isoform-bench-"));
  const file = join(folder, "rows.json");
  const words = [...process.argv.slice(2), "--threads", String(count), "--json", file];
  const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), ...words], { stdio: "inherit" });
  if (status !== 0) throw new Error(`the process with ${count} threads ended with ${status}`);
  const { rows: made } = JSON.parse(readFileSync(file, "utf8")) as { rows: Row[] };
  rmSync(folder, { recursive: true });
  return made;
}

async function measureAll(count: number): Promise<Row[]> {
  process.env.ISOFORM_THREADS = process.env.OMP_NUM_THREADS = String(count);
  const made: Row[] = [];
  for (const name of options.devices.split(",")) {
    const device = await open(name);
    for (const layout of options.layouts.split(",") as Layout[])
      for (const measure of [pushes, steps])
        for (const row of await measure(device, layout)) {
          made.push({ threads: count, device: name, layout, ...row });
          const ratio = row.ratio === undefined ? "" : `  ratio ${row.ratio.toFixed(2)}`;
          console.log(`${count} ${name.padEnd(6)} ${layout} ${row.what.padEnd(24)} ${row.ns.toFixed(1).padStart(7)} ns${ratio}`);
        }
    await device.close();
  }
  return made;
}

/** The operator alone, and the sort. */
async function pushes(device: Device, layout: Layout): Promise<Measured[]> {
  const make = (deposit: DepositWay) => Push.create(device, { deposit, layout, precision: "fast", particles, hot: false });
  const made = [await make("auto"), await make("cells")];
  const variants: Variant[] = [];
  for (const push of made) {
    const kind = push.options.deposit === "cells" ? ", sorted" : "";
    const expected = await push.expected();
    const byHand = inC(await push.inputs(), layout, calls);
    for (const [what, result] of [
      [`by hand${kind}`, { ...expected, current: byHand.current }],
      [`push${kind}`, await push.result()],
    ] as const) {
      const off = difference(result, expected);
      if (!agrees(off, tolerances(device))) throw new Error(`${device.name}: ${what} differs: ${JSON.stringify(off)}`);
    }
    variants.push({ what: `by hand${kind}`, ns: async () => nanoseconds(byHand.seconds()) });
    variants.push({ what: `push${kind}`, ns: async () => nanoseconds(medianOf((await push.run(2 + calls)).slice(2))) });
  }
  variants.push({ what: "sort", ns: async () => nanoseconds(medianOf((await made[1].sort(calls))!)) });
  const measured = await byTurns(variants);
  for (const push of made) push.free();
  return measured;
}

/** Whole steps, from one sort to the next. */
async function steps(device: Device, layout: Layout): Promise<Measured[]> {
  const { problem, defaults } = CASES.find(({ name }) => name === "3d3v")!;
  const variants: Variant[] = [];
  const made: Simulation[] = [];
  const plain = { ...DEFAULTS, count: Math.round(particles / 4), dt: TIME_STEP, layout: LAYOUTS[layout] };
  const every = stepsBetweenSorts(device, problem(defaults), plain);
  for (const sort of [0, every]) {
    const simulation = await Simulation.create(device, problem(defaults), { ...plain, sort });
    made.push(simulation);
    await simulation.run(every);
    const ns = async (): Promise<number> => {
      const start = performance.now();
      await simulation.run(every);
      return (1e6 * (performance.now() - start)) / every / plain.count;
    };
    variants.push({ what: sort === 0 ? "step" : `step, sorted every ${sort}`, ns });
  }
  const measured = await byTurns(variants);
  for (const simulation of made) simulation.free();
  return measured.map(({ what, ns, least }) => ({ what, ns, least }));
}

type Measured = Omit<Row, "threads" | "device" | "layout">;

/** A round takes one of each variant, beginning with another one each time. */
async function byTurns(variants: readonly Variant[]): Promise<Measured[]> {
  const samples: number[][] = variants.map(() => []);
  for (let round = 0; round < Number(options.rounds); round++)
    for (let k = 0; k < variants.length; k++) {
      const v = (round + k) % variants.length;
      samples[v].push(await variants[v].ns());
    }
  return variants.map(({ what }, v) => ({
    what,
    ns: medianOf(samples[v]),
    least: Math.min(...samples[v]),
    ratio: medianOf(samples[v].map((own, round) => samples[0][round] / own)),
  }));
}
