import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { open, type Device } from "isoform";
import type { FormName } from "../apps/gsr/solver.js";
import { commandLine, parseArgs } from "./command-line.js";
import { quantile } from "./interleave.js";
import { gaia, latticeBoltzmann, triad, type PathProblem, type Ready, type PathSample } from "./paths-problems.js";

/*
 * The code paths of one GPU against each other, of which the first is what the others are compared with:
 *   node dist/bench/paths.js [--paths cuda,opencl,hip,webgpu] [--only triad,lbm,gsr] [--elements N] [--cells 256] [--gib 1] [--forms fused]
 *                            [--rounds 11] [--json F]
 * A path without f64 runs problems in f64 with its emulation, and says so.
 */

const { values: options } = parseArgs({
  options: {
    paths: { type: "string", default: "cuda,opencl,hip,webgpu" },
    only: { type: "string", default: "triad,lbm,gsr" },
    elements: { type: "string", default: String(2 ** 27) },
    cells: { type: "string", default: "256" },
    gib: { type: "string", default: "1" },
    forms: { type: "string", default: "fused" },
    rounds: { type: "string", default: "11" },
    json: { type: "string" },
  },
});
const list = (text: string) => text.split(",");
const rounds = Number(options.rounds);

interface Row {
  problem: string;
  path: string;
  /** What f64 is computed in, or f32. */
  arithmetic: "f64" | "f32" | "emulated f64";
  quantity: string;
  /** Median over the rounds. */
  seconds: number;
  gbs: number;
  /** Seconds of the first path divided by this one's, median over the rounds. */
  ratio: number;
  /** Largest difference of the results from the first path's, relative to the largest of these. */
  difference: number;
}

interface Missing {
  problem: string;
  path: string;
  reason: string;
}

/** A problem on one code path, with what was measured. */
interface Contender {
  path: string;
  arithmetic: Row["arithmetic"];
  ready: Ready;
  samples: PathSample[];
}

const rows: Row[] = [];
const missing: Missing[] = [];
const labels: Record<string, string> = {};
for (const problem of problems()) {
  await measure(problem);
  if (options.json) write(options.json);
}

function write(file: string): void {
  const report = { command: commandLine("dist/bench/paths.js"), devices: labels, node: process.version, rounds, rows, missing };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(report, undefined, 1) + "\n");
}

function problems(): PathProblem[] {
  const made: Record<string, () => PathProblem[]> = {
    triad: () => (["f64", "f32"] as const).map((type) => triad(type, Number(options.elements))),
    lbm: () => [latticeBoltzmann("f32", Number(options.cells))],
    gsr: () => list(options.forms).map((form) => gaia(form as FormName, Number(options.gib))),
  };
  return list(options.only).flatMap((name) => made[name]());
}

/** All paths by turns, each round beginning with another one. */
async function measure(problem: PathProblem): Promise<void> {
  const opened: Device[] = [];
  const contenders: Contender[] = [];
  for (const path of list(options.paths)) {
    try {
      const device = await openFor(path, problem);
      opened.push(device);
      labels[path] = device.label;
      const arithmetic = problem.type === "f64" && device.capabilities.f64Bits !== undefined ? "emulated f64" : problem.type;
      const ready = await problem.prepare(device);
      await ready.sample();
      contenders.push({ path, arithmetic, ready, samples: [] });
    } catch (error) {
      leaveOut(problem.name, path, (error as Error).message);
    }
  }
  for (let round = 0; round < rounds; round++)
    for (let k = 0; k < contenders.length; k++) {
      const { ready, samples } = contenders[(round + k) % contenders.length];
      samples.push(await ready.sample());
    }
  await report(problem, contenders);
  for (const { ready } of contenders) await ready.free();
  for (const device of opened) await device.close();
}

function leaveOut(problem: string, path: string, reason: string): void {
  missing.push({ problem, path, reason });
  console.log(`${problem} ${path}: ${reason}`);
}

/** A device with f64 where the problem has it. */
async function openFor(path: string, { type }: PathProblem): Promise<Device> {
  const device = await open(path);
  if (type === "f32" || device.capabilities.f64) return device;
  await device.close();
  return open(path, { f64: "emulate" });
}

async function report({ name, tolerance }: PathProblem, contenders: readonly Contender[]): Promise<void> {
  if (contenders.length === 0) return;
  const [base] = contenders;
  const expected = await base.ready.results();
  for (const { path, arithmetic, ready, samples } of contenders) {
    const difference = distance(await ready.results(), expected);
    if (!(difference <= tolerance)) {
      process.exitCode = 1;
      leaveOut(name, path, `results differ from those of ${base.path} by ${difference}`);
      continue;
    }
    for (const quantity of Object.keys(samples[0])) {
      const seconds = quantile(
        samples.map((sample) => sample[quantity]),
        0.5,
      );
      const ratio = quantile(
        samples.map((sample, round) => base.samples[round][quantity] / sample[quantity]),
        0.5,
      );
      const gbs = ready.bytes[quantity] / seconds / 1e9;
      rows.push({ problem: name, path, arithmetic, quantity, seconds, gbs, ratio, difference });
      console.log(
        `${name} ${quantity.padEnd(12)} ${path} (${arithmetic}): ${(1e3 * seconds).toFixed(4)} ms, ${gbs.toFixed(0)} GB/s, ratio ${ratio.toFixed(3)}`,
      );
    }
  }
}

/** The largest difference of two lists, relative to the largest number of the second. */
function distance(found: readonly number[], expected: readonly number[]): number {
  const scale = Math.max(...expected.map(Math.abs));
  return Math.max(...expected.map((value, n) => Math.abs(found[n] - value))) / scale;
}
