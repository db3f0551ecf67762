import type { Device, Launch, Precision, View } from "isoform";
import { LaunchError, atFirstUse, f64, range } from "isoform";
import { requireMemory } from "isoform/set";
import { add, copy, dot, init, mul, triad } from "./kernels.js";

/** BabelStream's first values and scalar. */
const START = { a: 0.1, b: 0.2, c: 0 };
const SCALAR = 0.4;
/** Its arrays by default: 2^25 doubles each. */
export const DEFAULT_GIB = 0.75;

/** In the set's order. */
export const KERNELS = [copy, mul, add, triad, dot] as const;

/** Elements of each of the three arrays that together take `gib` GiB. Throws LaunchError below 24 bytes and above 48 GiB. */
export function elements(gib: number): number {
  const n = Math.floor((gib * 2 ** 30) / (3 * 8));
  if (!(n > 0 && n < 2 ** 31)) throw new LaunchError(`arrays of ${gib} GiB: the three together can have from 24 bytes to 48 GiB`);
  return n;
}

/** Result of `Stream.run`. */
export interface StreamTimes {
  /** Device seconds by kernel (`copy`, `mul`, `add`, `triad`, `dot`), one for each iteration. */
  seconds: Record<string, number[]>;
  /** The last dot product. */
  sum: number;
}

/** The five kernels on one device, ready to run. */
export class Stream {
  /** One for each kernel, in the set's order. */
  readonly launches: Launch[];
  private readonly start: Launch;

  private constructor(
    private readonly device: Device,
    readonly n: number,
    private readonly arrays: { a: View<"f64">; b: View<"f64">; c: View<"f64"> },
    precision?: Precision,
  ) {
    const { a, b, c } = arrays;
    const options = { precision };
    const each = range(n);
    this.start = device.prepare(init, { a0: START.a, b0: START.b, c0: START.c, a, b, c }, each, options);
    this.launches = [
      device.prepare(copy, { a, c }, each, options),
      device.prepare(mul, { scalar: SCALAR, b, c }, each, options),
      device.prepare(add, { a, b, c }, each, options),
      device.prepare(triad, { scalar: SCALAR, a, b, c }, each, options),
      device.prepare(dot, { a, b }, each, options),
    ];
  }

  /** @param n elements of each array. Throws LaunchError for arrays that do not fit the device's memory */
  static create(device: Device, n: number, precision?: Precision): Stream {
    requireMemory(device, { what: `stream on three arrays of ${n} doubles`, bytes: 3 * 8 * n, largest: 8 * n, choose: "a smaller --gib" });
    return new Stream(device, n, { a: device.array(f64, n), b: device.array(f64, n), c: device.array(f64, n) }, precision);
  }

  /** Runs the five kernels in turn, `iterations` times, from the first values of the arrays. */
  async run(iterations: number, onIteration?: (done: number) => void): Promise<StreamTimes> {
    const { queue } = this.device;
    for (const [n, launch] of this.launches.entries()) this.launches[n] = await atFirstUse(this.device, launch);
    queue.submit(this.start);
    const seconds: Record<string, number[]> = Object.fromEntries(this.launches.map(({ kernel }) => [kernel.name, []]));
    const last = this.launches[this.launches.length - 1];
    let sum = 0;
    for (let done = 1; done <= iterations; done++) {
      const marks = [queue.record()];
      for (const launch of this.launches) {
        queue.submit(launch);
        marks.push(queue.record());
      }
      sum = (await queue.results(last)).result;
      for (const [k, { kernel }] of this.launches.entries()) seconds[kernel.name].push(await marks[k + 1].since(marks[k]));
      onIteration?.(done);
    }
    return { seconds, sum };
  }

  /**
   * The largest relative deviation of the last run from the exact recurrence: of the arrays' mean absolute deviation, and of the dot product.
   * @param sum what `run` gave
   */
  async deviation(iterations: number, sum: number): Promise<number> {
    const { n, device } = this;
    const gold = exact(iterations);
    const totals = { a: 0, b: 0, c: 0 };
    // In pieces, which the host's caches hold: copies of whole arrays take twice as long.
    for (const name of ARRAYS)
      for (let from = 0; from < n; from += PIECE)
        totals[name] += distance(await device.queue.read(this.arrays[name].slice([from, Math.min(n, from + PIECE)])), gold[name]);
    return worst(totals, { n, sum, gold });
  }

  /** Frees the memory on the device. */
  free(): void {
    for (const launch of [this.start, ...this.launches]) launch.free();
    for (const array of Object.values(this.arrays)) array.free();
  }
}

const ARRAYS = ["a", "b", "c"] as const;
/** A number for each of the arrays. */
type Triple = Readonly<Record<(typeof ARRAYS)[number], number>>;
/** Elements that are read at once. */
const PIECE = 2 ** 18;

/** State that a run leaves: the arrays, and the dot product. */
interface Left {
  readonly a: ArrayLike<number>;
  readonly b: ArrayLike<number>;
  readonly c: ArrayLike<number>;
  readonly sum: number;
}

/**
 * The largest relative deviation from the exact recurrence after `iterations`: of the arrays' mean absolute deviation, and of the
 * dot product.
 */
export function deviationOf(left: Left, iterations: number): number {
  const gold = exact(iterations);
  const [a, b, c] = ARRAYS.map((name) => distance(left[name], gold[name]));
  return worst({ a, b, c }, { n: left.a.length, sum: left.sum, gold });
}

/** The sum of how far all values are from one. */
function distance(values: ArrayLike<number>, expected: number): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += Math.abs(values[i] - expected);
  return total;
}

/** The largest relative deviation, or NaN where there is one. */
function worst(totals: Triple, { n, sum, gold }: { readonly n: number; readonly sum: number; readonly gold: Triple }): number {
  const ofArrays = ARRAYS.map((name) => totals[name] / n / Math.abs(gold[name]));
  return Math.max(...ofArrays, Math.abs(sum / (gold.a * gold.b * n) - 1));
}

/** Value of every element of each array after `iterations`. */
function exact(iterations: number): Triple {
  let { a, b, c } = START;
  for (let k = 0; k < iterations; k++) {
    c = a;
    b = SCALAR * c;
    c = a + b;
    a = b + SCALAR * c;
  }
  return { a, b, c };
}
