import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { f64, kernel, open, range, view, type Launch, type Precision, type View } from "isoform";
import { GENERAL_FORMS, Solver, type FormName } from "../apps/gsr/solver.js";
import * as stream from "../apps/stream/kernels.js";
import { commandLine, parseArgs } from "./command-line.js";
import { laplace, lbm } from "./kernels.js";

/*
 * A GPU's kernels by its own clock, against its copy bandwidth measured in the same run:
 *   node dist/bench/gpu.js [--device cuda:0] [--only stream,stencil,gsr] [--gib 1,5,10] [--repeats 30] [--json F]
 * `--published F` also runs the published CUDA program (bench/README.md tells how to build it) on the same sizes.
 */

const { values: options } = parseArgs({
  options: {
    device: { type: "string", default: "cuda:0" },
    only: { type: "string", default: "stream,stencil,gsr" },
    gib: { type: "string", default: "1,5,10" },
    repeats: { type: "string", default: "30" },
    iterations: { type: "string", default: "100" },
    published: { type: "string" },
    json: { type: "string" },
  },
});

const fill = kernel("fill", { x: view(f64) }, ({ x }, i) => {
  x[i] = 0.05 + +(i % 1013) / 100000;
});

const PRECISIONS: readonly Precision[] = ["fast", "strict"];
const repeats = Number(options.repeats);
const iterations = Number(options.iterations);

interface Row {
  kernel: string;
  precision: Precision;
  /** Median and least device time. */
  seconds: number;
  least: number;
  gbs: number;
  /** Of the copy bandwidth. */
  ofCopy: number;
  remarks: readonly string[];
}

interface Iteration {
  application: string;
  gib: number;
  /** Wall clock of one iteration, mean. */
  seconds: number;
  /** Device seconds of its kernels, mean. */
  kernels: Record<string, number>;
  /** Root mean square of x - 1 as the published program counts it. */
  rms?: number;
  max?: number;
  first?: number[];
}

const device = await open(options.device);
const only = options.only.split(",");
const copy = await measureCopy();
console.log(`${device.label}\ncopy ${(copy / 1e9).toFixed(0)} GB/s`);
const rows: Row[] = [];
if (only.includes("stream")) await measureStream();
if (only.includes("stencil")) await measureStencils();
const solver = only.includes("gsr") ? await measureSolver() : [];
if (options.json) {
  const report = {
    command: commandLine("dist/bench/gpu.js"),
    device: device.label,
    node: process.version,
    copy,
    rows,
    solver,
  };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, JSON.stringify(report, undefined, 1) + "\n");
}
await device.close();

/** Device seconds of each of `repeats` runs, least first, after two that do not count. */
async function time(run: () => void): Promise<number[]> {
  const { queue } = device;
  run();
  run();
  const marks = [queue.record()];
  for (let n = 0; n < repeats; n++) {
    run();
    marks.push(queue.record());
  }
  const seconds = [];
  for (let n = 0; n < repeats; n++) seconds.push(await marks[n + 1].since(marks[n]));
  return seconds.sort((a, b) => a - b);
}

function median(sorted: readonly number[]): number {
  return sorted[sorted.length >> 1];
}

/** Bytes read and written a second by the driver's own copy between two arrays of 1 GiB. */
async function measureCopy(): Promise<number> {
  const n = 2 ** 27;
  const [from, to] = [await filled(n), device.array(f64, n)];
  const seconds = median(await time(() => device.queue.copy(from, to)));
  from.free();
  to.free();
  return (2 * 8 * n) / seconds;
}

/** An array with a different value in each element: zeros are moved faster than data. */
async function filled(...shape: number[]): Promise<View<"f64">> {
  const array = device.array(f64, shape);
  await device.run(fill, { x: array.reshape(array.size) }, range(array.size));
  return array;
}

async function measure(prepare: (precision: Precision) => Launch, bytes?: number): Promise<void> {
  for (const precision of PRECISIONS) {
    const launch = prepare(precision);
    const sorted = await time(() => device.queue.submit(launch));
    const seconds = median(sorted);
    const gbs = (bytes ?? launch.cost.bytes) / seconds / 1e9;
    rows.push({
      kernel: launch.kernel.name,
      precision,
      seconds,
      least: sorted[0],
      gbs,
      ofCopy: (gbs * 1e9) / copy,
      remarks: launch.remarks,
    });
    console.log(
      `${launch.kernel.name.padEnd(10)} ${precision.padEnd(6)} ${(1e3 * seconds).toFixed(4).padStart(9)} ms ${gbs.toFixed(0).padStart(6)} GB/s  ${((gbs * 1e11) / copy).toFixed(1)} % of copy`,
    );
    launch.free();
  }
}

async function measureStream(): Promise<void> {
  const n = 2 ** 27;
  const [a, b, c] = [await filled(n), await filled(n), await filled(n)];
  const scalar = 0.4;
  await measure((precision) => device.prepare(stream.copy, { a, c }, range(n), { precision }));
  await measure((precision) => device.prepare(stream.mul, { scalar, b, c }, range(n), { precision }));
  await measure((precision) => device.prepare(stream.add, { a, b, c }, range(n), { precision }));
  await measure((precision) => device.prepare(stream.triad, { scalar, a, b, c }, range(n), { precision }));
  await measure((precision) => device.prepare(stream.dot, { a, b }, range(n), { precision }));
  for (const array of [a, b, c]) array.free();
}

/** Bytes are those of the arrays, each read or written once. */
async function measureStencils(): Promise<void> {
  const n = 512;
  const inner = [1, n - 1] as const;
  const [p, s] = [await filled(n, n, n), device.array(f64, [n, n, n])];
  await measure((precision) => device.prepare(laplace, { p, s }, range(inner, inner, inner), { precision }), 16 * n ** 3);
  p.free();
  s.free();
  const m = 256;
  const cells = [1, m - 1] as const;
  const [from, to] = [await filled(19, m, m, m), device.array(f64, [19, m, m, m])];
  await measure((precision) => device.prepare(lbm, { omega: 1.2, from, to }, range(cells, cells, cells), { precision }), 19 * 16 * m ** 3);
  from.free();
  to.free();
}

async function measureSolver(): Promise<Iteration[]> {
  const list: Iteration[] = [];
  for (const gib of options.gib.split(",").map(Number)) {
    for (const form of GENERAL_FORMS) list.push(await solve(gib, form));
    if (options.published) list.push(published(options.published, gib));
  }
  for (const { application, gib, seconds, kernels } of list)
    console.log(
      `gsr ${gib} GiB ${application}: ${(1e3 * seconds).toFixed(3)} ms an iteration; ${Object.entries(kernels)
        .map(([name, t]) => `${name} ${(1e3 * t).toFixed(3)}`)
        .join(", ")}`,
    );
  return list;
}

/** The iteration without events between its kernels, then with them. */
async function solve(gib: number, form: FormName): Promise<Iteration> {
  const solver = await Solver.create(device, { gib, form, generator: "published" });
  await solver.solve({ iterations: 5 });
  const { secondsPerIteration: seconds } = await solver.solve({ iterations });
  const {
    max,
    published: { rms },
  } = await solver.deviation();
  const first = Array.from(await solver.solution()).slice(0, 5);
  const { steps: kernels } = await solver.solve({ iterations, timed: true });
  solver.free();
  return { application: `isoform ${form} form`, gib, seconds, kernels, rms, max, first };
}

/** Runs the published program and takes the averages that it prints. */
function published(program: string, gib: number): Iteration {
  const text = execFileSync(program, ["-memGlobal", String(gib), "-IDtest", "0", "-itnlimit", String(iterations)], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1]);
  const kernels = Object.fromEntries(
    [...text.matchAll(/Average kernel Aprod([12]\w+) time: ([\d.e+-]+)/gi)].map(([, name, seconds]) => [`a${name}`, Number(seconds)]),
  );
  return { application: "published CUDA", gib, seconds: number(/Average iteration time: ([\d.e+-]+)/i), kernels };
}
