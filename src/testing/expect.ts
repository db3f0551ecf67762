import type { Args, Device, LaunchOptions } from "../device/device.js";
import type { Policy } from "../device/launch/policy.js";
import type { View } from "../device/memory/view.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import { f32, type Params } from "../kernel/declare/params.js";
import type { RealToken } from "./real.js";

/** Tolerances for the device of the running case. */
interface Leniency {
  /** Slack relative to values from 1 on, otherwise absolute: above 0 if f64 is emulated, and too little for integers and f32 to differ in. */
  slack: number;
  /** f32 below 2^-126 may be zero. */
  flushes: boolean;
}
const EXACT: Leniency = { slack: 0, flushes: false };
let leniency = EXACT;
/** Bits that sums of some thousand terms may lose. */
const SLACK_BITS = 7;

/** Runs what may compare less strictly where the device says that it cannot do better; in f32 there is nothing to emulate. */
export async function leniently({ capabilities }: Device, real: RealToken | undefined, run: () => Promise<void>): Promise<void> {
  const { f64Bits, subnormals } = capabilities;
  leniency = { slack: f64Bits === undefined || real === f32 ? 0 : 2 ** (SLACK_BITS - f64Bits), flushes: subnormals === false };
  try {
    await run();
  } finally {
    leniency = EXACT;
  }
}

/** Equal bits, where any NaN equals any other; as near as its capabilities say on a device that emulates f64 or flushes subnormals. */
export function same(actual: number, expected: number): boolean {
  if (Object.is(actual, expected)) return true;
  if (leniency.flushes && isSubnormal(expected)) return actual === 0;
  return Math.abs(actual - expected) <= leniency.slack * Math.max(1, Math.abs(expected)) && actual !== expected;
}

const isSubnormal = (x: number): boolean => x !== 0 && Math.abs(x) < 2 ** -126;

/** Throws at the first element that differs in bits. */
export function expectSame(actual: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  if (actual.length !== expected.length) throw new Error(`${what}: ${actual.length} values instead of ${expected.length}`);
  for (let n = 0; n < expected.length; n++)
    if (!same(actual[n], expected[n]))
      throw new Error(`${what}: element ${n} is ${shownValue(actual[n])} instead of ${shownValue(expected[n])}`);
}

export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const equal = typeof actual === "number" && typeof expected === "number" ? same(actual, expected) : Object.is(actual, expected);
  if (!equal) throw new Error(`${what}: ${shownValue(actual)} instead of ${shownValue(expected)}`);
}

export const shownValue = (value: unknown): string => (Object.is(value, -0) ? "-0" : String(value));

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
