import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { f32, f64, i32, kernel, open, range, view, type Launch } from "isoform";
import { commandLine, parseArgs } from "./command-line.js";

/*
 * Kernels that move little an element, by how many elements a thread of a GPU works on together, measured by turns:
 *   node dist/bench/elements.js [--device cuda:0] [--rounds 25] [--json F]
 */

const { values: options } = parseArgs({
  options: { device: { type: "string", default: "cuda:0" }, rounds: { type: "string", default: "25" }, json: { type: "string" } },
});

const copy = kernel("copy", { a: view(f64), c: view(f64) }, ({ a, c }, i) => {
  c[i] = a[i];
});
const scale = kernel("scale", { a: view(f64) }, ({ a }, i) => {
  a[i] *= 0.999;
});
const add = kernel("add", { a: view(f64), b: view(f64), c: view(f64) }, ({ a, b, c }, i) => {
  c[i] = a[i] + b[i];
});
const copy32 = kernel("copy32", { a: view(f32), c: view(f32) }, ({ a, c }, i) => {
  c[i] = a[i];
});
const add32 = kernel("add32", { a: view(f32), b: view(f32), c: view(f32) }, ({ a, b, c }, i) => {
  c[i] = a[i] + b[i];
});
const gather32 = kernel("gather32", { from: view(i32), a: view(f32), c: view(f32) }, ({ from, a, c }, i) => {
  c[i] = a[from[i]];
});
const copyBox = kernel("copyBox", { a: view(f64, 3), c: view(f64, 3) }, ({ a, c }, z, y, x) => {
  c[z][y][x] = a[z][y][x];
});
const copyBox32 = kernel("copyBox32", { a: view(f32, 3), c: view(f32, 3) }, ({ a, c }, z, y, x) => {
  c[z][y][x] = a[z][y][x];
});
/** A step of the heat equation in two dimensions. */
const heat = kernel("heat", { a: view(f64, 2), c: view(f64, 2) }, ({ a, c }, i, j) => {
  c[i + 1][j + 1] = a[i + 1][j + 1] + 0.1 * (a[i][j + 1] + a[i + 2][j + 1] + a[i + 1][j] + a[i + 1][j + 2] - 4 * a[i + 1][j + 1]);
});
const heat32 = kernel("heat32", { k: f32, a: view(f32, 2), c: view(f32, 2) }, ({ k, a, c }, i, j) => {
  const own = a[i + 1][j + 1];
  c[i + 1][j + 1] = own + k * (a[i][j + 1] + a[i + 2][j + 1] + a[i + 1][j] + a[i + 1][j + 2] - own - own - own - own);
});
const laplace32 = kernel("laplace32", { a: view(f32, 3), c: view(f32, 3) }, ({ a, c }, z, y, x) => {
  const own = a[z + 1][y + 1][x + 1];
  const along = a[z + 1][y + 1][x] + a[z + 1][y + 1][x + 2] - own - own;
  const across = a[z + 1][y][x + 1] + a[z + 1][y + 2][x + 1] - own - own;
  c[z + 1][y + 1][x + 1] = along + across + a[z][y + 1][x + 1] + a[z + 2][y + 1][x + 1] - own - own;
});
/** With a branch: several go together where all of them take the first way. */
const clip = kernel("clip", { a: view(f64), c: view(f64) }, ({ a, c }, i) => {
  if (a[i] > 0) c[i] = a[i];
  else c[i] = 0;
});

const BOX = [256, 256, 512] as const;
const BOX32 = [256, 512, 512] as const;
const PLANE = [4096, 8192] as const;
const PLANE32 = [8192, 8192] as const;
const cells = (extents: readonly number[]): number => extents.reduce((product, extent) => product * extent, 1);
const [n, n32] = [cells(BOX), cells(BOX32)];

const device = await open(options.device);
const [a, b, c] = [1, 2, 3].map(() => device.array(f64, n));
const [a32, b32, c32] = [1, 2, 3].map(() => device.array(f32, n32));
// Neighbours in pairs, each the other's.
const from = device.from(
  i32,
  Int32Array.from({ length: n32 }, (_, i) => i ^ 1),
);

interface Case {
  readonly kernel: string;
  /** Of each thread; undefined for what the device chooses. */
  readonly elements: number | undefined;
  readonly bytes: number;
  readonly launch: Launch;
  readonly seconds: number[];
}

const cases = [undefined, 1, 2, 4].flatMap((elements): Case[] => {
  const tuning = elements === undefined ? {} : { tuning: { elements } };
  const measured = (launch: Launch): Case => ({ kernel: launch.kernel.name, elements, bytes: launch.cost.bytes, launch, seconds: [] });
  return [
    device.prepare(copy, { a, c }, range(n), tuning),
    device.prepare(scale, { a }, range(n), tuning),
    device.prepare(add, { a, b, c }, range(n), tuning),
    device.prepare(copy32, { a: a32, c: c32 }, range(n32), tuning),
    device.prepare(add32, { a: a32, b: b32, c: c32 }, range(n32), tuning),
    device.prepare(gather32, { from, a: a32, c: c32 }, range(n32), tuning),
    device.prepare(heat, { a: a.reshape(...PLANE), c: c.reshape(...PLANE) }, range(PLANE[0] - 2, PLANE[1] - 2), tuning),
    device.prepare(
      heat32,
      { k: 0.1, a: a32.reshape(...PLANE32), c: c32.reshape(...PLANE32) },
      range(PLANE32[0] - 2, PLANE32[1] - 2),
      tuning,
    ),
    device.prepare(
      laplace32,
      { a: a32.reshape(...BOX32), c: c32.reshape(...BOX32) },
      range(BOX32[0] - 2, BOX32[1] - 2, BOX32[2] - 2),
      tuning,
    ),
    ...(elements === undefined ? [device.prepare(clip, { a, c }, range(n), tuning)] : []),
    device.prepare(copyBox, { a: a.reshape(...BOX), c: c.reshape(...BOX) }, range(...BOX), tuning),
    device.prepare(copyBox32, { a: a32.reshape(...BOX32), c: c32.reshape(...BOX32) }, range(...BOX32), tuning),
  ].map(measured);
});

const { queue } = device;
for (let round = 0; round < Number(options.rounds); round++)
  for (const { launch, seconds } of cases) {
    // The one before keeps the device busy until the marks are set.
    queue.submit(launch);
    const begin = queue.record();
    queue.submit(launch);
    seconds.push(await queue.record().since(begin));
  }

const median = (values: readonly number[]): number => [...values].sort((x, y) => x - y)[values.length >> 1];
const rows = cases.map(({ kernel: name, elements, bytes, seconds }) => ({
  kernel: name,
  elements: elements ?? "default",
  microseconds: Number((median(seconds) * 1e6).toFixed(1)),
  gbs: Math.round(bytes / median(seconds) / 1e9),
}));
console.table(rows);
if (options.json) {
  mkdirSync(dirname(options.json), { recursive: true });
  const report = {
    command: commandLine("dist/bench/elements.js"),
    device: device.label,
    node: process.version,
    rounds: Number(options.rounds),
    rows,
  };
  writeFileSync(options.json, `${JSON.stringify(report, null, 1)}\n`);
}
await device.close();
