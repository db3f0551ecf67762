import type { Device, Queue } from "../device/device.js";
import { lastLevelCache } from "../device/native/cache-size.js";
import { range } from "../device/launch/policy.js";
import { kernel } from "../kernel/declare/kernel.js";
import { f64, fixed, i32, view } from "../kernel/declare/params.js";
import type { Progress } from "./application.js";
import { isProcessor } from "./machine.js";
import { MOVERS, type Mover } from "./movers.js";

/** Writes memory first: until then, systems map it to one page of zeros, which caches hold. */
const fill = kernel("fill", { a: view(f64), value: f64 }, ({ a, value }, i) => {
  a[i] = value;
});

const copy = kernel("copy", { a: view(f64), c: view(f64) }, ({ a, c }, i) => {
  c[i] = a[i];
});

const triad = kernel("triad", { a: view(f64), b: view(f64), c: view(f64), s: f64 }, ({ a, b, c, s }, i) => {
  c[i] = a[i] + s * b[i];
});

/** Eight independent chains of `steps` multiply-adds an element: enough to hide their latency, and long enough to hide the memory. */
const multiplyAdd = kernel("multiplyAdd", { x: view(f64), m: f64, steps: fixed(i32) }, ({ x, m, steps }, i) => {
  const b = x[i];
  let s0 = b + 0.1;
  let s1 = b + 0.2;
  let s2 = b + 0.3;
  let s3 = b + 0.4;
  let s4 = b + 0.5;
  let s5 = b + 0.6;
  let s6 = b + 0.7;
  let s7 = b + 0.8;
  for (let k = 0; k < steps; k++) {
    s0 = s0 * m + b;
    s1 = s1 * m + b;
    s2 = s2 * m + b;
    s3 = s3 * m + b;
    s4 = s4 * m + b;
    s5 = s5 * m + b;
    s6 = s6 * m + b;
    s7 = s7 * m + b;
  }
  x[i] = s0 + s1 + s2 + s3 + (s4 + s5 + s6 + s7);
});

/** Constant, so that CPUs unroll the chains and vectorise along the elements; a GPU's memory needs longer ones to be hidden. */
const STEPS = { cpu: 16, gpu: 64 };
const ELEMENTS = { cpu: 2 ** 20, gpu: 2 ** 24 };

/** Bytes of one of the three arrays: two of them hold four times what caches do. */
const arrayBytes = (kind: "cpu" | "gpu") => (kind === "cpu" ? Math.max(2 ** 28, 2 * lastLevelCache()) : 2 ** 30);

/** Peak rates that a device was seen to reach. */
export interface Peaks {
  /** Bytes a second, read and written together: the most that any of `MOVERS` reached. */
  bandwidth: number;
  /** The one that reached it. */
  bandwidthBy: Mover;
  /** f64 operations a second, multiply and add counted apart: the best chain of multiply-adds. Null on a device without f64 of its own. */
  flops: number | null;
}

/** How often something is run for its best time. */
interface Effort {
  readonly repeats: number;
  /** When they are over, so are the repeats, but not before three. */
  readonly seconds: number;
}

const FEWEST = 3;

/** Least seconds of all runs after a first one, by the device's clock. */
async function bestSeconds(device: Device, submit: (queue: Queue) => void, { repeats, seconds: limit }: Effort): Promise<number> {
  const { queue } = device;
  const started = performance.now();
  let best = Infinity;
  for (let run = 0; run <= repeats && (run <= FEWEST || (performance.now() - started) / 1e3 < limit); run++) {
    const before = queue.record();
    submit(queue);
    const seconds = await queue.record().since(before);
    if (run > 0) best = Math.min(best, seconds);
  }
  return best;
}

/**
 * Measures the bandwidth on arrays that no cache holds, and the rate of multiply-adds. The best of the repeats counts: a peak is what
 * the hardware can do, not what it did while something else ran.
 * @param options `seconds`: for the repeats of each of the four measurements; no limit by default
 */
export async function measurePeaks(device: Device, options: Partial<Effort> & { progress?: Progress } = {}): Promise<Peaks> {
  const { repeats = 10, seconds = Infinity, progress } = options;
  const effort = { repeats, seconds };
  const kind = isProcessor(device) ? "cpu" : "gpu";
  const bytes = Math.min(arrayBytes(kind), device.capabilities.memory / 8, device.capabilities.maxAllocation / 4);
  progress?.(0, 2, `bandwidth of ${device.name}`);
  const { bandwidth, bandwidthBy } = await bestBandwidth(device, Math.floor(bytes / 8), effort);
  progress?.(1, 2, `multiply-adds of ${device.name}`);
  const flops = device.capabilities.f64 && device.capabilities.f64Bits === undefined ? await multiplyAddRate(device, kind, effort) : null;
  progress?.(2, 2);
  return { bandwidth, bandwidthBy, flops };
}

async function bestBandwidth(device: Device, n: number, effort: Effort): Promise<Omit<Peaks, "flops">> {
  const [a, b, c] = [0, 1, 2].map(() => device.array(f64, n));
  for (const array of [a, b, c]) await device.run(fill, { a: array, value: 1 }, range(n));
  const launches = {
    copy: device.prepare(copy, { a, c }, range(n), { precision: "fast" }),
    triad: device.prepare(triad, { a, b, c, s: 0.4 }, range(n), { precision: "fast" }),
  };
  const moves: Readonly<Record<Mover, { bytes: number; submit: (queue: Queue) => void }>> = {
    copy: { bytes: 16 * n, submit: (queue) => queue.submit(launches.copy) },
    triad: { bytes: 24 * n, submit: (queue) => queue.submit(launches.triad) },
    "driver's copy": { bytes: 16 * n, submit: (queue) => queue.copy(a, c) },
  };
  let best: Omit<Peaks, "flops"> | undefined;
  for (const bandwidthBy of MOVERS) {
    const { bytes, submit } = moves[bandwidthBy];
    const bandwidth = bytes / (await bestSeconds(device, submit, effort));
    if (best === undefined || bandwidth > best.bandwidth) best = { bandwidth, bandwidthBy };
  }
  for (const resource of [...Object.values(launches), a, b, c]) resource.free();
  return best!;
}

async function multiplyAddRate(device: Device, kind: "cpu" | "gpu", effort: Effort): Promise<number> {
  const n = ELEMENTS[kind];
  const x = device.array(f64, n);
  const launch = device.prepare(multiplyAdd, { x, m: 0.5, steps: STEPS[kind] }, range(n), { precision: "fast" });
  const seconds = await bestSeconds(device, (queue) => queue.submit(launch), effort);
  const { flops } = launch.cost;
  launch.free();
  x.free();
  return flops / seconds;
}
