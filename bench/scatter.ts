import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { f32, f64, fixed, i32, IsoformError, kernel, open, range, scatter, view, type Launch, type View } from "isoform";
import { commandLine, parseArgs } from "./command-line.js";
import { quantile } from "./interleave.js";

/*
 * Histograms by every scatter strategy, by turns:
 *   node dist/bench/scatter.js [--device cuda:0] [--elements 10000000] [--bins 1000,100000,10000000] [--orders random,sorted,clustered]
 *     [--strategies auto,atomic,duplicated,cached,sorted] [--width 1] [--type f64] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    device: { type: "string", default: "cuda:0" },
    elements: { type: "string", default: "10000000" },
    bins: { type: "string", default: "1000,100000,10000000" },
    orders: { type: "string", default: "random,sorted,clustered" },
    strategies: { type: "string", default: "auto,atomic,duplicated,cached,sorted" },
    /** Neighbouring bins that an element adds to. */
    width: { type: "string", default: "1" },
    type: { type: "string", default: "f64" },
    rounds: { type: "string", default: "5" },
    calls: { type: "string", default: "5" },
    json: { type: "string" },
  },
});

/** The bin of element `k` of `n`. */
const ORDERS = {
  random: (k: number, _n: number, bins: number): number => Math.floor(uniform(k) * bins),
  sorted: (k: number, n: number, bins: number): number => Math.floor((k / n) * bins),
  /** As particles lie that were sorted some time ago: up to 32 bins from where they were. */
  clustered: (k: number, n: number, bins: number): number =>
    Math.min(bins - 1, Math.max(0, Math.floor((k / n) * bins + (uniform(k) - 0.5) * 64))),
} as const;

const real = options.type === "f32" ? f32 : f64;
const histogram = kernel("histogram", { at: view(i32), x: view(real), h: scatter(real), width: fixed(i32) }, ({ at, x, h, width }, i) => {
  for (let k = 0; k < width; k++) h.add(at[i] + k, x[i]);
});

interface Variant {
  readonly strategy: string;
  readonly launch: Launch;
  /** The greatest difference from sums in order, in units of the greatest sum. */
  readonly off: number;
}

const list = (text: string): string[] => text.split(",");
const [n, width, calls] = [options.elements, options.width, options.calls].map(Number);
const device = await open(options.device);
console.log(device.label);
const xs = Float64Array.from({ length: n }, (_, k) => 1 + uniform(k + 0.5));
const x = device.from(real, xs);
const rows = [];
for (const bins of list(options.bins).map(Number))
  for (const order of list(options.orders) as (keyof typeof ORDERS)[]) rows.push(...(await measure(bins, order)));
if (options.json) {
  const { type } = options;
  const report = {
    command: commandLine("dist/bench/scatter.js"),
    device: device.label,
    node: process.version,
    elements: n,
    width,
    type,
    rows,
  };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, JSON.stringify(report, undefined, 1) + "\n");
}
await device.close();

async function measure(bins: number, order: keyof typeof ORDERS) {
  const indices = Int32Array.from({ length: n }, (_, k) => ORDERS[order](k, n, bins));
  const at = device.from(i32, indices);
  const h = device.array(real, bins + width - 1);
  const sums = inOrder(indices, h.size);
  const variants: Variant[] = [];
  for (const strategy of list(options.strategies)) {
    const launch = prepare(strategy, at, h);
    if (typeof launch === "string") console.log(`${bins} ${order} ${strategy}: ${launch}`);
    else variants.push({ strategy, launch, off: await difference(launch, h, sums) });
  }
  const samples: number[][] = variants.map(() => []);
  for (let round = 0; round < Number(options.rounds); round++)
    for (let k = 0; k < variants.length; k++) {
      const v = (round + k) % variants.length;
      samples[v].push(await secondsOf(variants[v].launch));
    }
  const base = Math.max(
    0,
    variants.findIndex(({ strategy }) => strategy === "atomic"),
  );
  const measured = variants.map(({ strategy, launch, off }, v) => {
    const seconds = quantile(samples[v], 0.5);
    const ratio = quantile(
      samples[v].map((own, round) => samples[base][round] / own),
      0.5,
    );
    const remark = launch.remarks.find((line) => line.startsWith("scatter"))!;
    console.log(
      `${String(bins).padStart(9)} ${order.padEnd(9)} ${strategy.padEnd(10)} ${(1e3 * seconds).toFixed(3).padStart(9)} ms ` +
        `${((1e9 * seconds) / n).toFixed(3).padStart(8)} ns an element  ${ratio.toFixed(2).padStart(6)} of ${variants[base].strategy}  off by ${off.toExponential(1)}  ${remark}`,
    );
    launch.free();
    return { bins, order, strategy, seconds, ratio, off, remarks: launch.remarks };
  });
  at.free();
  h.free();
  return measured;
}

/** A launch by one strategy, or why there is none. */
function prepare(strategy: string, at: View<"i32", 1>, h: View): Launch | string {
  try {
    const how = strategy === "auto" ? {} : { scatter: strategy as "atomic" };
    return device.prepare(histogram, { at, x, h, width } as never, range(n), { precision: "fast", ...how });
  } catch (error) {
    if (error instanceof IsoformError) return error.message;
    throw error;
  }
}

async function secondsOf(launch: Launch): Promise<number> {
  device.queue.submit(launch);
  await device.queue.finish();
  const start = performance.now();
  for (let call = 0; call < calls; call++) device.queue.submit(launch);
  await device.queue.finish();
  return (performance.now() - start) / 1e3 / calls;
}

async function difference(launch: Launch, h: View, expected: Float64Array): Promise<number> {
  device.queue.clear(h);
  device.queue.submit(launch);
  const found = await device.queue.read(h);
  let [off, greatest] = [0, 0];
  for (let k = 0; k < expected.length; k++) {
    off = Math.max(off, Math.abs(found[k] - expected[k]));
    greatest = Math.max(greatest, expected[k]);
  }
  return off / greatest;
}

function inOrder(indices: Int32Array, size: number): Float64Array {
  const sums = new Float64Array(size);
  for (let k = 0; k < n; k++) for (let near = 0; near < width; near++) sums[indices[k] + near] += xs[k];
  return sums;
}

/** The same number from 0 to 1 for the same `k`. */
function uniform(k: number): number {
  let bits = Math.imul(Math.floor(2 * k) ^ 0x9e3779b9, 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
