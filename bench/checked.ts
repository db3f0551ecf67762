import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { f64, i32, kernel, open, range, scatter, view, type Device, type Launch } from "isoform";
import { dense } from "isoform/grid";
import { devices } from "isoform/set";
import { skeleton, swap } from "isoform/skeleton";
import { commandLine, parseArgs } from "./command-line.js";
import { interleave, type Variant } from "./interleave.js";

/*
 * What checked indices cost: each kernel with and without, by turns. A GPU wants more elements, so that it has something to do:
 *   node dist/bench/checked.js [--devices js,wasm,native] [--precision strict] [--elements 1000000] [--rounds 15] [--json F]
 *   node dist/bench/checked.js --devices cuda:0 --elements 100000000 [--precision fast]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "js,wasm,native" },
    precision: { type: "string", default: "strict" },
    elements: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "15" },
    json: { type: "string" },
  },
});
const n = Number(options.elements);
const precision = options.precision === "fast" ? "fast" : "strict";

const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});
const stencil = kernel("stencil", { u: view(f64, 2), v: view(f64, 2) }, ({ u, v }, i, j) => {
  v[i][j] = u[i][j] + 0.1 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
});
const gather = kernel("gather", { x: view(f64), at: view(i32), y: view(f64) }, ({ x, at, y }, i) => {
  y[i] = x[at[i]];
});
const spmv = kernel("spmv", { start: view(i32), column: view(i32), a: view(f64), x: view(f64), y: view(f64) }, (p, i) => {
  let sum = 0;
  for (let k = p.start[i]; k < p.start[i + 1]; k++) sum += p.a[k] * p.x[p.column[k]];
  p.y[i] = sum;
});
const histogram = kernel("histogram", { at: view(i32), h: scatter(i32) }, ({ at, h }, i) => h.add(at[i], 1));

const numbers = (length: number) => Float64Array.from({ length }, (_, k) => Math.sin(k));
const PRIME = 7919;

/** By name the launches of one device, made with these options. */
const KERNELS: Readonly<Record<string, (device: Device, checked: boolean) => Launch>> = {
  axpy: (d, checked) => d.prepare(axpy, { a: 1e-9, x: d.from(f64, numbers(n)), y: d.array(f64, n) }, range(n), { checked }),
  stencil: (d, checked) => {
    const side = Math.floor(Math.sqrt(n));
    const [u, v] = [d.from(f64, numbers(side * side), [side, side]), d.array(f64, [side, side])];
    return d.prepare(stencil, { u, v }, range([1, side - 1], [1, side - 1]), { checked });
  },
  "gather, in order": (d, checked) => gathering(d, checked, (k) => k),
  "gather, at random": (d, checked) => gathering(d, checked, (k) => (k * PRIME) % n),
  "spmv, 7 a row": (d, checked) => {
    const rows = Math.floor(n / 7);
    const start = d.from(
      i32,
      Int32Array.from({ length: rows + 1 }, (_, k) => 7 * k),
    );
    const column = d.from(
      i32,
      Int32Array.from({ length: 7 * rows }, (_, k) => (Math.floor(k / 7) + (k % 7) * PRIME) % rows),
    );
    const a = d.from(f64, numbers(7 * rows));
    return d.prepare(spmv, { start, column, a, x: d.from(f64, numbers(rows)), y: d.array(f64, rows) }, range(rows), { checked });
  },
  "histogram, 1000 bins": (d, checked) => {
    const at = d.from(
      i32,
      Int32Array.from({ length: n }, (_, k) => (k * PRIME) % 1000),
    );
    return d.prepare(histogram, { at, h: d.array(i32, 1000) }, range(n), { checked });
  },
};

function gathering(d: Device, checked: boolean, at: (k: number) => number): Launch {
  const indices = d.from(
    i32,
    Int32Array.from({ length: n }, (_, k) => at(k)),
  );
  return d.prepare(gather, { x: d.from(f64, numbers(n)), at: indices, y: d.array(f64, n) }, range(n), { checked });
}

/** A step of the heat equation on a grid, as a skeleton. */
async function heat(device: string, checked: boolean): Promise<Variant> {
  process.env.ISOFORM_CHECKED = checked ? "1" : "0";
  const set = await devices(device);
  delete process.env.ISOFORM_CHECKED;
  const side = Math.floor(Math.cbrt(n));
  const grid = dense(set, [side, side, side]);
  const [u, next] = [grid.field("u", f64), grid.field("next", f64)];
  u.fill((x, y, z) => Math.sin(x + 2 * y + 3 * z));
  const step = grid.container("step", { u, next }, ({ u, next }, c) => {
    const around = u.at(c, 1, 0, 0) + u.at(c, -1, 0, 0) + u.at(c, 0, 1, 0) + u.at(c, 0, -1, 0) + u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1);
    next[c] = u[c] + 0.1 * (around - 6 * u[c]);
  });
  const plan = skeleton(set, "heat", [step, swap(u, next)], { precision });
  await plan.run(2);
  return { name: checked ? "checked" : "unchecked", run: (times) => plan.run(2 * times) };
}

const rows: object[] = [];
async function compare(device: string, name: string, variants: readonly Variant[]): Promise<void> {
  const [plain, checked] = await interleave(variants, { rounds: Number(options.rounds), sample: 0.02, warmUp: 0.3 });
  const cost = 1 / checked.ratio;
  console.log(
    `${device.padEnd(8)}${name.padEnd(24)}${(plain.seconds * 1e6).toFixed(1).padStart(10)} us unchecked, ${cost.toFixed(3)} checked`,
  );
  rows.push({ device, kernel: name, unchecked: plain.seconds, checked: checked.seconds, cost, undisturbed: checked.undisturbed });
}

for (const name of options.devices.split(",")) {
  const device = await open(name);
  device.precision = precision;
  console.log(device.label);
  for (const [kernelName, make] of Object.entries(KERNELS)) {
    const launches = [false, true].map((checked) => make(device, checked));
    const variants = launches.map((launch, k) => ({
      name: k === 0 ? "unchecked" : "checked",
      run: async (times: number) => {
        for (let turn = 0; turn < times; turn++) device.queue.submit(launch);
        await device.queue.finish();
      },
    }));
    await compare(name, kernelName, variants);
    for (const launch of launches) launch.free();
  }
  await compare(name, "heat on a dense grid", [await heat(name, false), await heat(name, true)]);
  await device.close();
}
if (options.json) {
  mkdirSync(dirname(options.json), { recursive: true });
  const { cpus } = await import("node:os");
  const machine = { cpu: cpus()[0].model, threads: cpus().length, node: process.version };
  writeFileSync(
    options.json,
    `${JSON.stringify({ command: commandLine("dist/bench/checked.js"), ...machine, precision, elements: n, rows }, undefined, 1)}\n`,
  );
}
process.exit(0);
