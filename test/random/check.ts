import type { ElementType, KernelIR } from "../../src/ir/types.js";
import { IsoformError } from "../../src/base/errors.js";
import type { Device } from "../../src/device/device.js";
import type { Policy } from "../../src/device/launch/policy.js";
import { stridesOf, type View } from "../../src/device/memory/view.js";
import { verify } from "../../src/ir/verify.js";
import { printKernel } from "../../src/ir/kernel-text.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { kernelFromIR } from "../../src/kernel/declare/from-ir.js";
import { lower } from "../../src/kernel/lower/lower.js";
import type { Kernel } from "../../src/kernel/declare/kernel.js";
import { callPlainly } from "./plain.js";
import { dataOf, sequence } from "./data.js";
import { INEXACT } from "./parameters.js";
import { evaluate, evaluateFlushed } from "./evaluate.js";
import { narrowKernel, narrowMemory, narrowScalars } from "./narrow.js";
import { copyOf, type Grid, type Memory } from "./memory.js";
import { kernelOf, sourceOf, type Program } from "./program.js";

/** A kernel whose outputs differ between two ways to run it. */
export class Mismatch extends Error {
  override name = "Mismatch";
}
/** A program that the front end refuses, or that no way of running it can run: it cannot be compared. */
export class Unsound extends Error {
  override name = "Unsound";
}

interface Outcome {
  memory: Memory;
  results: Record<string, number>;
}

/** Results by the names of their parts. */
const flatResults = (results: Readonly<Record<string, unknown>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(results).flatMap(([name, value]) =>
      typeof value === "object" && value !== null
        ? Object.entries(value).map(([part, number]) => [`${name}_${part}`, number as number] as const)
        : [[name, value as number] as const],
    ),
  );

/**
 * Runs one program by the reference evaluator, as plain TypeScript where it says all its roundings, and on each device in strict mode.
 * Throws Mismatch where bits differ (NaN equals NaN) or a device fails, Unsound where the program is none.
 */
export async function check(program: Program, devices: readonly Device[]): Promise<void> {
  const { kernel, lowered, inputs, scalars, fixed, plainly, reference } = prepare(program);
  if (plainly) compare(program, "the evaluator", reference, "plain TypeScript", plainly);
  for (const device of devices) {
    const given = device.name === "js-debug" ? kernel : lowered;
    const actual = await attempt(device.name, program, () => runOn(device, program, given, inputs, { ...scalars, ...fixed }));
    compare(program, "the evaluator", reference, device.name, actual);
  }
}

/** How often `checkAgain` runs a program. */
const AGAIN = 7;

/**
 * Runs one program several times by `device.run` over the same views: as it is, then over parts of its range, with other numbers. Throws as
 * `check` does, and where an index that the evaluator finds outside ends no launch. On a device without f64 it does as `checkNarrowed` does.
 */
export async function checkAgain(program: Program, device: Device): Promise<void> {
  const { ir, lowered, inputs, scalars, fixed } = device.capabilities.f64 ? prepareAgain(program) : prepareNarrowed(program);
  const views = Object.fromEntries(Object.entries(inputs).map(([name, g]) => [name, place(device, program, name, g)]));
  const next = sequence(program.data);
  try {
    for (let n = 0; n < AGAIN; n++) {
      const policy = n < 2 ? program.policy : partOf(program.policy, next);
      const numbers = n === 0 ? scalars : otherNumbers(scalars, ir, next);
      const varied: Program = { ...program, policy };
      let expected: Outcome | Error;
      try {
        expected = run(inputs, (memory) => evaluate(ir, policy, memory, numbers));
      } catch (error) {
        expected = error as Error;
        if (!isOutside(error)) continue;
      }
      for (const [name, { data }] of Object.entries(inputs)) device.queue.write(views[name], data);
      const args = { ...Object.fromEntries(Object.entries({ ...numbers, ...fixed }).filter(([name]) => name in lowered.params)), ...views };
      const results = await device.run(lowered, args as never, policy, { precision: "strict" }).catch((error: Error) => error);
      if (expected instanceof Error) {
        if (!(results instanceof IsoformError))
          throw new Mismatch(`run ${n}: ${expected.message}, and ${device.name} goes on\n${sourceOf(varied)}`);
        continue;
      }
      if (results instanceof Error) throw new Mismatch(`run ${n}: ${device.name} fails: ${results.stack}\n${sourceOf(varied)}`);
      const memory: Memory = {};
      for (const [name, view] of Object.entries(views)) memory[name] = { ...inputs[name], data: await device.queue.read(view) };
      try {
        compare(varied, `run ${n} of the evaluator`, expected, device.name, { memory, results: flatResults(results) });
      } catch (error) {
        if (device.capabilities.f64) throw error;
        const flushed = run(inputs, (memory) => evaluateFlushed(ir, policy, memory, numbers));
        compare(varied, `run ${n} of the evaluator, which flushes`, flushed, device.name, { memory, results: flatResults(results) });
      }
    }
  } finally {
    for (const view of Object.values(views)) view.free();
  }
}

function prepareAgain(program: Program) {
  const { kernel, lowered, inputs, scalars, fixed } = prepare(program);
  return { ir: compileKernel(kernel, fixed).ir, lowered, inputs, scalars, fixed };
}

/** A random part of a range, which may be empty; teams stay as they are. */
function partOf(policy: Policy, next: () => number): Policy {
  if (policy.kind === "team") return policy;
  const first = policy.extents.map((extent) => Math.floor(next() * (extent + 1)));
  const extents = policy.extents.map((extent, axis) => Math.floor(next() * (extent + 1 - first[axis])));
  return { ...policy, begin: policy.begin.map((begin, axis) => begin + first[axis]), extents };
}

/** Other floats, and of the other scalars some. */
function otherNumbers(scalars: Record<string, number | boolean>, ir: KernelIR, next: () => number): Record<string, number | boolean> {
  const types = new Map(ir.params.flatMap((param) => (param.kind === "scalar" ? [[param.name, param.type] as const] : [])));
  return Object.fromEntries(
    Object.entries(scalars).map(([name, value]) => {
      const type = types.get(name);
      if (type === "f64" || type === "f32") return [name, Math.fround((value as number) + next() - 0.5)];
      if (type === undefined || next() < 0.5) return [name, value];
      return [name, type === "bool" ? !value : Math.floor(next() * 4)];
    }),
  );
}

/**
 * True where some index of the program is outside, as the evaluator finds when it runs what devices are given: then each device ends its launch
 * with an error, or Mismatch is thrown.
 */
export async function checkOutside(program: Program, devices: readonly Device[]): Promise<boolean> {
  const { inputs, scalars, fixed } = dataOf(program);
  const kernel = kernelOf(program);
  const { ir } = compileKernel(kernel, fixed);
  let outside: Error | undefined;
  try {
    run(inputs, (memory) => evaluate(ir, program.policy, memory, scalars));
  } catch (error) {
    outside = error as Error;
  }
  if (!isOutside(outside)) return false;
  for (const device of devices) {
    const refused = await runOn(device, program, kernel, inputs, { ...scalars, ...fixed }).then(
      () => new Error("the launch ends as if nothing were wrong"),
      (error: Error) => error,
    );
    if (!(refused instanceof IsoformError))
      throw new Mismatch(`${outside.message} by the evaluator, and by ${device.name} ${refused.stack}\n${sourceOf(program)}`);
  }
  return true;
}

/** An error of the evaluator, of an index outside. */
export const isOutside = (error: unknown): error is RangeError => error instanceof RangeError && error.message.startsWith("index ");

async function attempt(by: string, program: Program, body: () => Outcome | Promise<Outcome>): Promise<Outcome> {
  try {
    return await body();
  } catch (error) {
    throw new Mismatch(`${by} fails: ${(error as Error).stack}\n${sourceOf(program)}`, { cause: error });
  }
}

/** Compares a device without f64, which may flush subnormal numbers, with the evaluator: f32 takes the place of f64 in the program. */
export async function checkNarrowed(program: Program, device: Device): Promise<void> {
  const { ir, lowered, inputs, scalars, fixed, reference } = prepareNarrowed(program);
  const actual = await attempt(device.name, program, () => runOn(device, program, lowered, inputs, scalars));
  try {
    compare(program, "the evaluator", reference, device.name, actual);
  } catch {
    const flushed = run(inputs, (memory) => evaluateFlushed(ir, program.policy, memory, { ...scalars, ...fixed }));
    compare(program, "the evaluator, which flushes", flushed, device.name, actual);
  }
}

function prepareNarrowed(program: Program) {
  try {
    const { inputs: wide, scalars: all, fixed } = dataOf(program);
    const ir = lower(kernelOf(program), fixed);
    const narrowed = narrowKernel(ir);
    verify(narrowed);
    const [inputs, scalars] = [narrowMemory(wide), narrowScalars(all, ir)];
    const reference = run(inputs, (memory) => evaluate(narrowed, program.policy, memory, scalars));
    return { ir: narrowed, lowered: kernelFromIR(narrowed), inputs, scalars, fixed, reference };
  } catch (error) {
    throw new Unsound(`${(error as Error).stack}\n${sourceOf(program)}`, { cause: error });
  }
}

/** Compares two devices, for machines where one of them is too new to be judged with the rest. */
export async function checkAgainst(program: Program, device: Device, against: Device): Promise<void> {
  const { kernel, inputs, scalars, fixed } = prepare(program);
  const values = { ...scalars, ...fixed };
  const [expected, actual] = [against, device].map((d) => attempt(d.name, program, () => runOn(d, program, kernel, inputs, values)));
  compare(program, against.name, await expected, device.name, await actual);
}

function prepare(program: Program) {
  try {
    const { inputs, scalars, fixed } = dataOf(program);
    const kernel = kernelOf(program);
    const ir = lower(kernel, fixed);
    verify(ir);
    // Lowering is half of the work, so that devices get what was lowered, but for some kernels, which go all the way again.
    const lowered = program.data % 8 === 0 ? kernel : kernelFromIR(ir);
    verify(compileKernel(lowered, lowered === kernel ? fixed : {}).ir);
    // The evaluator comes first: it refuses the endless loops that shrinking makes.
    const reference = run(inputs, (memory) => evaluate(ir, program.policy, memory, scalars));
    const plainly = program.faithful
      ? run(inputs, (memory) => callPlainly(kernel, program.policy, memory, { ...scalars, ...fixed }))
      : undefined;
    return { kernel, lowered, inputs, scalars, fixed, plainly, reference };
  } catch (error) {
    throw new Unsound(`${(error as Error).stack}\n${sourceOf(program)}`, { cause: error });
  }
}

function run(inputs: Memory, body: (memory: Memory) => Record<string, number>): Outcome {
  const memory = copyOf(inputs);
  return { memory, results: body(memory) };
}

async function runOn(
  device: Device,
  program: Program,
  kernel: Kernel,
  inputs: Memory,
  scalars: Record<string, number | boolean>,
): Promise<Outcome> {
  const views = Object.fromEntries(Object.entries(inputs).map(([name, g]) => [name, place(device, program, name, g)]));
  try {
    const args = { ...Object.fromEntries(Object.entries(scalars).filter(([name]) => name in kernel.params)), ...views };
    const launch = device.prepare(kernel, args as never, program.policy, { precision: "strict" });
    try {
      device.queue.submit(launch);
      const results = await device.queue.results(launch);
      const memory: Memory = {};
      for (const [name, view] of Object.entries(views)) memory[name] = { ...inputs[name], data: await device.queue.read(view) };
      return { memory, results: flatResults(results) };
    } finally {
      launch.free();
    }
  } finally {
    for (const view of Object.values(views)) view.free();
  }
}

/** A view with the given contents, in the layout that the program wants. `strided` is the inner part of a larger array. */
function place(device: Device, program: Program, name: string, { type, shape, data }: Grid): View {
  const param = program.params.get(name)!;
  const layout = "layout" in param ? param.layout : "right";
  if (layout !== "strided") return device.from({ type }, data, shape, { layout });
  const inner = device
    .array(
      { type },
      shape.map((n) => n + 2),
    )
    .slice(...shape.map((n): [number, number] => [1, n + 1]));
  device.queue.write(inner, data);
  return inner;
}

/**
 * Results of a function: NaN, infinities and zeros as they are, others within 3 units in the last place, as the engine's own may be off by one. An
 * infinity is the next of the greatest values.
 */
export function near(type: ElementType, expected: number, actual: number): boolean {
  if (same(expected, actual)) return true;
  if (expected === 0 || !Number.isFinite(expected)) return false;
  const [least, bits, greatest] = type === "f64" ? [5e-324, 52, Number.MAX_VALUE] : [2 ** -149, 23, 2 ** 128 * (1 - 2 ** -24)];
  if (Math.abs(actual) === Infinity) return actual > 0 === expected > 0 && Math.abs(expected) >= greatest * (1 - 2 * 2 ** -bits);
  return Math.abs(actual - expected) <= 3 * Math.max(least, 2 ** (Math.floor(Math.log2(Math.abs(expected))) - bits));
}

const same = (a: number, b: number): boolean => Object.is(a, b) || (a !== a && b !== b);

function compare(program: Program, expectedBy: string, expected: Outcome, actualBy: string, actual: Outcome): void {
  const differ = (what: string, e: number, a: number): never => {
    const show = (x: number): string => (Object.is(x, -0) ? "-0" : String(x));
    throw new Mismatch(`${what} is ${show(e)} by ${expectedBy} and ${show(a)} by ${actualBy}\n${sourceOf(program)}\n${irOf(program)}`);
  };
  for (const [name, { type, data, shape }] of Object.entries(expected.memory)) {
    const got = actual.memory[name].data;
    const equal = name.startsWith(INEXACT) ? (a: number, b: number) => near(type, a, b) : same;
    for (let n = 0; n < data.length; n++) if (!equal(data[n], got[n])) differ(`${name}[${indexOf(n, shape)}]`, data[n], got[n]);
  }
  for (const [name, value] of Object.entries(expected.results))
    if (!same(value, actual.results[name])) differ(name, value, actual.results[name]);
}

const irOf = (program: Program): string => printKernel(compileKernel(kernelOf(program), dataOf(program).fixed).ir);

const indexOf = (n: number, shape: readonly number[]): number[] =>
  stridesOf(shape, "right").map((stride, a) => Math.floor(n / stride) % shape[a]);
