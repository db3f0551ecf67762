import type { Device } from "../device/device.js";
import type { Policy } from "../device/policy.js";
import type { View } from "../device/view.js";
import type { Kernel } from "../kernel/kernel.js";
import type { Params } from "../kernel/params.js";
import type { Args, LaunchOptions } from "../device/device.js";

/** One step of the conformance ladder. It throws where the device does not do what it must. */
export interface Rung {
  /** Rungs are climbed in this order; tens are subjects. */
  number: number;
  title: string;
  run(device: Device): Promise<void>;
}

export const rung = (number: number, title: string, run: Rung["run"]): Rung => ({
  number,
  title,
  async run(device) {
    const { f64Bits, subnormals } = device.abilities;
    leniency = { slack: f64Bits === undefined ? 0 : 2 ** (SLACK_BITS - f64Bits), flushes: subnormals === false };
    try {
      await run(device);
    } finally {
      leniency = EXACT;
    }
  },
});

/** What the device of the running rung may do otherwise. */
interface Leniency {
  /** Of values from 1 on relative, else absolute: more than 0 where f64 is emulated, and too little for integers and f32 to differ in. */
  slack: number;
  /** f32 below 2^-126 may be zero. */
  flushes: boolean;
}
const EXACT: Leniency = { slack: 0, flushes: false };
let leniency = EXACT;
/** Bits that sums of some thousand terms may lose. */
const SLACK_BITS = 7;

/** Equal bits, where any NaN equals any other; as near as its abilities say on a device that emulates f64 or flushes subnormals. */
export function same(actual: number, expected: number): boolean {
  if (Object.is(actual, expected)) return true;
  if (leniency.flushes && isSubnormal(expected)) return actual === 0;
  return Math.abs(actual - expected) <= leniency.slack * Math.max(1, Math.abs(expected)) && actual !== expected;
}

const isSubnormal = (x: number): boolean => x !== 0 && Math.abs(x) < 2 ** -126;

/** Those of the values that the device computes with as they are, results included: none near the subnormals that it flushes. */
export function edgesOn({ abilities }: Device, type: "f64" | "f32", edges: readonly number[]): readonly number[] {
  const { f64Bits, subnormals } = abilities;
  const normal = edges.filter((x) =>
    subnormals === false && (type === "f32" || f64Bits !== undefined) ? x === 0 || !(Math.abs(x) < 2 ** -100) : true,
  );
  if (type === "f32" || f64Bits === undefined) return normal;
  // The exact remainder of a large one would need more bits.
  const held = (x: number): boolean => {
    const low = x - Math.fround(x);
    return Math.abs(x) < 2 ** 44 && Math.fround(low) === low && (low === 0 || Math.abs(low) >= Math.abs(x) * 2 ** -f64Bits);
  };
  return normal.filter((x) => !Number.isFinite(x) || held(x));
}

/** Throws at the first element that differs in bits. */
export function expectSame(actual: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  if (actual.length !== expected.length) throw new Error(`${what}: ${actual.length} values instead of ${expected.length}`);
  for (let n = 0; n < expected.length; n++)
    if (!same(actual[n], expected[n])) throw new Error(`${what}: element ${n} is ${show(actual[n])} instead of ${show(expected[n])}`);
}

export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const equal = typeof actual === "number" && typeof expected === "number" ? same(actual, expected) : Object.is(actual, expected);
  if (!equal) throw new Error(`${what}: ${show(actual)} instead of ${show(expected)}`);
}

const show = (value: unknown): string => (Object.is(value, -0) ? "-0" : String(value));

/** Throws unless the call fails with an error of the given class whose message matches. */
export async function expectError(call: () => unknown, name: string, message: RegExp): Promise<void> {
  try {
    await call();
  } catch (error) {
    const { name: actual, message: text } = error as Error;
    if (actual !== name || !message.test(text)) throw new Error(`${actual}: "${text}" instead of ${name} with ${message}`);
    return;
  }
  throw new Error(`no error, where ${name} with ${message} was due`);
}

/** Values 0 .. n-1 through a function. */
export function make(n: number, value: (n: number) => number): Float64Array {
  return Float64Array.from({ length: n }, (_, k) => value(k));
}

/** Runs the kernel and compares a view's elements, in `right` order, with `expected`. */
export async function expectOutput<P extends Params>(
  device: Device,
  kernel: Kernel<P>,
  args: Args<P>,
  policy: Policy,
  output: View,
  expected: ArrayLike<number>,
  options?: LaunchOptions,
): Promise<void> {
  await device.run(kernel, args, policy, options);
  expectSame(await device.queue.read(output), expected, `${kernel.name}`);
}

/** A reproducible value in [0, 1) for each n: the fractional parts of multiples of an irrational number, mixed. */
export function noise(n: number): number {
  const x = Math.sin(n * 12.9898 + 78.233) * 43758.5453;
  return x - Math.floor(x);
}

/** All pairs of two lists, as two lists. */
export function pairs(a: readonly number[], b: readonly number[]): [Float64Array, Float64Array] {
  return [make(a.length * b.length, (n) => a[Math.floor(n / b.length)]), make(a.length * b.length, (n) => b[n % b.length])];
}

export const F64_EDGES: readonly number[] = [
  0,
  -0,
  1,
  -1,
  0.5,
  -0.5,
  1.5,
  -1.5,
  2.5,
  -2.5,
  3,
  0.1,
  1 / 3,
  -0.2,
  0.49999999999999994,
  NaN,
  Infinity,
  -Infinity,
  5e-324,
  -5e-324,
  2.2250738585072014e-308,
  1.7976931348623157e308,
  -1.7976931348623157e308,
  1e300,
  1e-300,
  2251799813685248.5,
  9007199254740992,
  2147483646.5,
  2147483647,
  2147483647.5,
  2147483648,
  -2147483648,
  -2147483648.5,
  -2147483649,
  4294967295,
  4294967295.5,
  4294967296,
  -0.9999999999999999,
];
export const F32_EDGES: readonly number[] = [
  ...F64_EDGES.map(Math.fround),
  1.401298464324817e-45,
  -1.401298464324817e-45,
  1.1754943508222875e-38,
  3.4028234663852886e38,
  16777216,
  2147483520,
  4294967040,
];
export const I32_EDGES: readonly number[] = [
  0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 33, 255, 256, 12345, -98765, 65535, 65536, 46341, 1073741824, 2147483647, -2147483647, -2147483648,
];
export const U32_EDGES: readonly number[] = [
  0, 1, 2, 3, 7, 31, 32, 33, 255, 256, 12345, 65535, 65536, 65537, 2147483647, 2147483648, 3000000000, 4294967294, 4294967295,
];
