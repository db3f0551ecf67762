import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import { open, type Device, type Launch, type Precision } from "isoform";
import { Baselines, FLAGS } from "./baselines.js";
import { CASES, type Case, type CaseProblem } from "./cases.js";
import { commandLine, parseArgs } from "./command-line.js";
import { interleave, type InterleavedTime, type Variant } from "./interleave.js";

/*
 * The CPU backends against hand-written C/OpenMP:
 *   node dist/bench/cpu.js [--only triad,laplace] [--where cache,memory] [--devices native,wasm,js] [--rounds 25] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    where: { type: "string", default: "cache,memory" },
    devices: { type: "string", default: "native,wasm,js" },
    rounds: { type: "string", default: "25" },
    json: { type: "string" },
  },
});

const TOLERANCE = 1e-11;

interface Row extends InterleavedTime {
  variant: string;
  gbs: number;
  maxError: number;
  remarks: readonly string[];
}

interface Prepared {
  variant: Variant;
  maxError: number;
  remarks: readonly string[];
}

const list = (text: string) => text.split(",");
const devices = await Promise.all(list(options.devices).map((name) => open(name)));
const compiler = process.env.CC ?? "gcc";
const baselines = new Baselines(compiler);
const results = [];
for (const c of CASES) {
  if (!list(options.where).includes(c.where) || (options.only && !list(options.only).includes(c.name))) continue;
  const { bytes, rows } = await measure(c);
  results.push({ kernel: c.name, where: c.where, bytes, rows });
  for (const row of rows)
    console.log(
      `${c.name.padEnd(8)} ${c.where.padEnd(6)} ${row.variant.padEnd(14)} ${row.gbs.toFixed(1).padStart(7)} GB/s  ratio ${row.ratio.toFixed(2)} (best decile ${row.bestDecile.toFixed(2)})${row.undisturbed ? "" : "  disturbed"}`,
    );
}
if (options.json) {
  const report = {
    command: commandLine("dist/bench/cpu.js"),
    host: {
      processor: cpus()[0].model,
      threads: devices[0].capabilities.parallelism,
      node: process.version,
      compiler,
      flags: FLAGS.join(" "),
    },
    results,
  };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, JSON.stringify(report, undefined, 1) + "\n");
}
await Promise.all(devices.map((device) => device.close()));

async function measure(c: Case): Promise<{ bytes: number; rows: Row[] }> {
  const problem = c.setUp(devices[0]);
  const handWritten = problem.handWritten(baselines);
  const expected = await outcome(problem, devices[0], handWritten);
  const launches: Launch[] = [];
  const prepared: Prepared[] = [{ variant: variant("handwritten", handWritten), maxError: 0, remarks: [] }];
  for (const device of devices)
    for (const precision of (device.backend === "js" ? ["fast"] : ["fast", "strict"]) as Precision[]) {
      const launch = problem.launch(device, { precision });
      launches.push(launch);
      const run = () => device.queue.submit(launch);
      const maxError = difference(expected, await outcome(problem, device, run, launch));
      if (!(maxError <= TOLERANCE))
        throw new Error(`${c.name} on ${device.name} (${precision}) differs from the hand-written kernel by ${maxError}`);
      prepared.push({ variant: variant(`${device.name} ${precision}`, run), maxError, remarks: launch.remarks });
    }
  const measured = await interleave(
    prepared.map((p) => p.variant),
    { rounds: Number(options.rounds), sample: 0.002, warmUp: 0.15 },
  );
  for (const launch of launches) launch.free();
  problem.free();
  const rows = measured.map((m, n): Row => ({
    variant: prepared[n].variant.name,
    ...m,
    gbs: problem.bytes / m.seconds / 1e9,
    maxError: prepared[n].maxError,
    remarks: prepared[n].remarks,
  }));
  return { bytes: problem.bytes, rows };
}

function variant(name: string, once: () => unknown): Variant {
  const run = (times: number): void => {
    for (let n = 0; n < times; n++) once();
  };
  return { name, run };
}

/** What one run leaves in a cleared output, or its result. */
async function outcome(
  { output }: CaseProblem,
  device: Device,
  run: () => number | undefined | void,
  launch?: Launch,
): Promise<ArrayLike<number>> {
  if (output) device.queue.clear(output);
  const result = run();
  if (output) return device.queue.read(output);
  return launch ? Object.values(await device.queue.results(launch)) : [result as number];
}

/** The largest difference, in units of the largest value. */
function difference(expected: ArrayLike<number>, found: ArrayLike<number>): number {
  let [worst, scale] = [0, 0];
  for (let n = 0; n < expected.length; n++) {
    worst = Math.max(worst, Math.abs(expected[n] - found[n]));
    scale = Math.max(scale, Math.abs(expected[n]));
  }
  return Number.isNaN(worst) ? Infinity : worst / scale;
}
