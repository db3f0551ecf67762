import type { Device } from "../device/device.js";
import type { NumericType } from "../ir/types.js";
import type { Policy } from "../device/policy.js";
import type { View } from "../device/view.js";
import type { Kernel } from "../kernel/kernel.js";
import { f32, f64, type Params, type ScalarToken } from "../kernel/params.js";
import type { Args, LaunchOptions } from "../device/device.js";

/** One step of the conformance ladder. */
export interface Rung {
  /** Rungs are climbed in this order; tens are subjects. */
  readonly number: number;
  readonly title: string;
  /** The type of its floats, where there is the same rung for the other. */
  readonly real?: Real["type"];
  /** Why the device need not climb it: what it is about is an ability that the device says it lacks. */
  excuse(device: Device): string | undefined;
  /** Throws where the device does not do what it must. */
  run(device: Device): Promise<void>;
}

/** The type of a rung's floats. */
export type Real = typeof f64 | typeof f32;
/** The nearest number of such a type. */
export type Round = (x: number) => number;
/** The sum in a type that `r` rounds to. */
export const adding =
  (r: Round) =>
  (a: number, b: number): number =>
    r(a + b);

/** A rung whose subject is not one type of floats. */
export const rung = (number: number, title: string, run: Rung["run"]): Rung => ({
  number,
  title,
  excuse: () => undefined,
  run: (device) => leniently(leniencyOf(device), () => run(device)),
});

/**
 * A rung for each type of floats: `run` is given the type, and what rounds to it. Expected values are rounded after each operation.
 *
 * @param lacking what else of the type a device may lack
 */
export const reals = (
  number: number,
  title: string,
  run: (device: Device, real: Real, r: Round) => Promise<void>,
  lacking: (device: Device, real: Real) => string | undefined = () => undefined,
): Rung[] =>
  [f64, f32].map((real) => ({
    number,
    title: `${title}, in ${real.type}`,
    real: real.type,
    excuse: (device) => (real === f64 && !device.abilities.f64 ? "it has no f64" : lacking(device, real)),
    run: (device) => {
      const { slack, flushes } = leniencyOf(device);
      return leniently({ slack: real === f64 ? slack : 0, flushes }, () => run(device, real, real === f64 ? (x) => x : Math.fround));
    },
  }));

/** A thing of each type of numbers, such as a kernel; made when it is first asked for. */
export function ofType<K, T extends ScalarToken<NumericType> = Real>(make: (type: T) => K): (type: T) => K {
  const made = new Map<T, K>();
  return (type) => {
    if (!made.has(type)) made.set(type, make(type));
    return made.get(type)!;
  };
}

/** Private arrays of the type, for kernels. */
export const arrayOf = (real: Real): Float64ArrayConstructor | Float32ArrayConstructor => (real === f64 ? Float64Array : Float32Array);

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

const leniencyOf = ({ abilities }: Device): Leniency => ({
  slack: abilities.f64Bits === undefined ? 0 : 2 ** (SLACK_BITS - abilities.f64Bits),
  flushes: abilities.subnormals === false,
});

async function leniently(granted: Leniency, run: () => Promise<void>): Promise<void> {
  leniency = granted;
  try {
    await run();
  } finally {
    leniency = EXACT;
  }
}

/** Equal bits, where any NaN equals any other; as near as its abilities say on a device that emulates f64 or flushes subnormals. */
export function same(actual: number, expected: number): boolean {
  if (Object.is(actual, expected)) return true;
  if (leniency.flushes && isSubnormal(expected)) return actual === 0;
  return Math.abs(actual - expected) <= leniency.slack * Math.max(1, Math.abs(expected)) && actual !== expected;
}

const isSubnormal = (x: number): boolean => x !== 0 && Math.abs(x) < 2 ** -126;

/** Those of the values that the device computes with as they are, results included: none near the subnormals that it flushes. */
export function edgesOn({ abilities }: Device, real: Real, edges = real === f64 ? F64_EDGES : F32_EDGES): readonly number[] {
  const { f64Bits, subnormals } = abilities;
  const normal = edges.filter((x) =>
    subnormals === false && (real === f32 || f64Bits !== undefined) ? x === 0 || !(Math.abs(x) < 2 ** -100) : true,
  );
  if (real === f32 || f64Bits === undefined) return normal;
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
  0.4999999701976776,
  8388609,
  16777216,
  2147483520,
  4294967040,
];
export const I32_EDGES: readonly number[] = [
  0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 33, 255, 256, 12345, -98765, 65535, 65536, 46341, 1073741824, 2147483647, -2147483647, -2147483648,
];
export const U32_EDGES: readonly number[] = [
  0, 1, 2, 3, 7, 31, 32, 33, 255, 256, 12345, 65535, 65536, 65537, 2147483647, 2147483648, 3000000000, 3428989595, 4294967294, 4294967295,
];
