import { GradientError } from "../../src/base/errors.js";
import type { Device } from "../../src/device/device.js";
import type { RangePolicy } from "../../src/device/launch/policy.js";
import { adjointOf, differentiable } from "../../src/ir/gradient/adjoint.js";
import { typeOfParam, type DerivativeCode } from "../../src/ir/gradient/subject.js";
import { tangentOf } from "../../src/ir/gradient/tangent-kernel.js";
import { printKernel } from "../../src/ir/kernel-text.js";
import { optimise } from "../../src/ir/passes/optimise.js";
import { isFloat } from "../../src/ir/scalars.js";
import type { KernelIR, Param } from "../../src/ir/types.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { kernelFromIR } from "../../src/kernel/declare/from-ir.js";
import { Mismatch } from "./check.js";
import { dataOf, sequence } from "./data.js";
import { evaluate, limitSteps } from "./evaluate.js";
import { copyOf, grid, type Memory } from "./memory.js";
import { kernelOf, sourceOf, type Program } from "./program.js";

/*
 * Gradients of random kernels, with all floats as f64 and between -1 and 1: <w, J v> of the tangent is <J^T w, v> of the adjoint, both by the evaluator.
 */

/** What became of one program: `agree`, or why it was not compared. */
export type GradientOutcome = "agree" | "team" | "large" | "no floats" | "refused" | "not finite" | "an index" | "endless";

const MOST_ELEMENTS = 600;
const MOST_STEPS = 3_000_000;
/** Relative to the sum of the terms' magnitudes. */
const BOUND = 1e-8;

type Scalars = Record<string, number | boolean>;

/** Code with f64 in place of all other floats. */
function widened<T>(tree: T): T {
  if (Array.isArray(tree)) return tree.map(widened) as T;
  if (typeof tree === "object" && tree !== null)
    return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, widened(value)])) as T;
  return (tree === "f32" || tree === "f16" || tree === "bf16" ? "f64" : tree) as T;
}

/** A kernel with its data. */
interface Given {
  readonly ir: KernelIR;
  readonly policy: RangePolicy;
  readonly memory: Memory;
  readonly scalars: Scalars;
}

function givenBy(program: Program): Given | GradientOutcome {
  const { policy } = program;
  if (policy.kind === "team") return "team";
  if (policy.extents.reduce((a, b) => a * b, 1) > MOST_ELEMENTS) return "large";
  const { inputs, scalars, fixed } = dataOf(program);
  const random = sequence(program.data + 99);
  const memory: Memory = {};
  for (const [name, { type, shape, data }] of Object.entries(inputs))
    memory[name] = isFloatType(type)
      ? grid(
          "f64",
          shape,
          Array.from(data, () => random() * 2 - 1),
        )
      : grid(type, shape, data);
  // Once more, as casts between floats are gone.
  const ir = optimise(widened(compileKernel(kernelOf(program), fixed).ir));
  for (const param of ir.params) if (param.kind === "scalar" && isFloat(param.type)) scalars[param.name] = random() * 2 - 1;
  return { ir, policy, memory, scalars };
}

const isFloatType = (type: string): boolean => ["f64", "f32", "f16", "bf16"].includes(type);

/** Runs the kernels of a derivative, one after the other; the memory is changed. */
function runAll({ kernels }: DerivativeCode, policy: RangePolicy, memory: Memory, scalars: Scalars): Record<string, number> {
  let results: Record<string, number> = {};
  for (const kernel of kernels) {
    results = evaluate(kernel, policy, memory, scalars);
    for (const [name, value] of Object.entries(results)) if (/_(value|ties)$/.test(name)) memory[name] = grid("f64", [1], [value]);
  }
  return results;
}

/**
 * Compares the tangent of a program with its adjoint, and what the tangent stores with what the kernel does. With a device, the adjoint's bits there as well.
 * Throws Mismatch.
 */
export async function checkGradientsOf(program: Program, device?: Device): Promise<GradientOutcome> {
  const given = givenBy(program);
  if (typeof given === "string") return given;
  const { ir } = given;
  const wrt = differentiable(ir);
  if (wrt.length === 0) return "no floats";
  limitSteps(MOST_STEPS);
  try {
    const [tangent, adjoint] = [tangentOf(ir, { wrt }), adjointOf(ir, { wrt })];
    return await compared(program, given, tangent, adjoint, device);
  } catch (error) {
    if (error instanceof GradientError) return "refused";
    if (error instanceof RangeError) return "an index";
    if (/more than \d+ statements|does not end/.test((error as Error).message)) return "endless";
    if (error instanceof Mismatch) throw error;
    throw new Mismatch(`${(error as Error).stack}\n${sourceOf(program)}`, { cause: error });
  } finally {
    limitSteps(Infinity);
  }
}

async function compared(
  program: Program,
  given: Given,
  tangent: DerivativeCode,
  adjoint: DerivativeCode,
  device?: Device,
): Promise<GradientOutcome> {
  const { ir, policy, memory, scalars } = given;
  const random = sequence(program.data + 7);
  const like = (param: Param): number[] => Array.from(memory[param.name]?.data ?? [0], () => random() - 0.5);
  const floats = ir.params.filter((param) => isFloat(typeOfParam(param)));
  const taken = new Set(adjoint.kernels.flatMap(({ params }) => params.map(({ name }) => name)));
  const ahead = new Map(floats.map((param) => [param.name, param.kind === "reduce" ? [0] : like(param)]));
  const seeds = new Map(floats.map((param) => [param.name, param.kind === "scalar" ? [0] : like(param)]));
  const plain = copyOf(memory);
  const folded = evaluate(ir, policy, plain, scalars);
  const dots = withDerivatives(given, floats, "dot", ahead);
  const rates = runAll(tangent, policy, dots.memory, dots.scalars);
  for (const [name, { data }] of Object.entries(plain))
    for (const [n, x] of data.entries()) {
      const found = dots.memory[name].data[n];
      // Powers become products where their bases are locals, with other last bits.
      const isNear = name.startsWith("inexact_") && Math.abs(x - found) <= 1e-12 * Math.abs(x);
      if (!Object.is(x, found) && !isNear && !(x !== x && found !== found))
        fail(program, [tangent], `the tangent stores ${found} into ${name}[${n}], the kernel ${x}`);
    }
  for (const [name, x] of Object.entries(folded))
    if (!Object.is(x, rates[name]) && !(x !== x && rates[name] !== rates[name]))
      fail(program, [tangent], `the tangent gives ${rates[name]} for ${name}, the kernel ${x}`);
  const bars = withDerivatives(given, floats, "bar", seeds);
  const sums = runAll(adjoint, policy, bars.memory, bars.scalars);
  if (device) await sameBits(program, given, floats, seeds, adjoint, { memory: bars.memory, sums }, device);
  let [left, right, size] = [0, 0, 0];
  const term = (x: number): number => ((size += Math.abs(x)), x);
  for (const param of floats) {
    const { name } = param;
    if (param.kind === "scalar") right += term((sums[`${name}_bar`] ?? 0) * ahead.get(name)![0]);
    else if (param.kind === "reduce") left += term((rates[`${name}_dot`] ?? 0) * (taken.has(`${name}_bar`) ? seeds.get(name)![0] : 0));
    else
      for (let n = 0; n < memory[name].data.length; n++) {
        left += term(seeds.get(name)![n] * dots.memory[`${name}_dot`].data[n]);
        right += term(bars.memory[`${name}_bar`].data[n] * ahead.get(name)![n]);
      }
  }
  if (!Number.isFinite(left) || !Number.isFinite(right)) return "not finite";
  if (Math.abs(left - right) > BOUND * (size || 1))
    fail(program, adjoint ? [adjoint] : [], `the tangent gives ${left}, the adjoint ${right}, of ${size}`);
  return "agree";
}

function fail(program: Program, code: readonly DerivativeCode[], problem: string): never {
  const texts = code.flatMap(({ kernels }) => kernels.map(printKernel));
  throw new Mismatch(`${problem}\n${sourceOf(program)}\n${texts.join("\n")}`);
}

/** Memory and scalars with derivatives beside them. */
function withDerivatives(
  { memory, scalars }: Given,
  floats: readonly Param[],
  ending: string,
  of: ReadonlyMap<string, readonly number[]>,
): { memory: Memory; scalars: Scalars } {
  const all = { memory: copyOf(memory), scalars: { ...scalars } };
  for (const param of floats) {
    const { name } = param;
    if (param.kind === "view" || param.kind === "scatter") all.memory[`${name}_${ending}`] = grid("f64", memory[name].shape, of.get(name)!);
    else all.scalars[`${name}_${ending}`] = of.get(name)![0];
  }
  return all;
}

/** The adjoint on a device has the bits of the evaluator. */
async function sameBits(
  program: Program,
  given: Given,
  floats: readonly Param[],
  seeds: ReadonlyMap<string, readonly number[]>,
  adjoint: DerivativeCode,
  expected: { memory: Memory; sums: Record<string, number> },
  device: Device,
): Promise<void> {
  const { memory, scalars } = withDerivatives(given, floats, "bar", seeds);
  const views: Record<string, ReturnType<Device["from"]>> = {};
  for (const [name, { type, shape, data }] of Object.entries(memory)) views[name] = device.from({ type } as never, data, shape as number[]);
  let sums: Record<string, number> = {};
  for (const ir of adjoint.kernels) {
    const args = Object.fromEntries(
      ir.params.flatMap(({ name, kind }) => (kind === "reduce" ? [] : [[name, kind === "scalar" ? scalars[name] : views[name]]])),
    );
    sums = (await device.run(kernelFromIR(ir), args, given.policy, { precision: "strict" })) as Record<string, number>;
    for (const [name, value] of Object.entries(sums))
      if (/_(value|ties)$/.test(name)) views[name] = device.from({ type: "f64" } as never, [value]);
  }
  for (const [name, value] of Object.entries(sums))
    if (!Object.is(value, expected.sums[name]) && value === value)
      fail(program, [adjoint], `${name} is ${value} on ${device.name}, ${expected.sums[name]} by the evaluator`);
  for (const name of Object.keys(memory)) {
    const found = (await device.queue.read(views[name])) as ArrayLike<number>;
    for (const [n, x] of expected.memory[name].data.entries())
      if (!Object.is(found[n], x) && !(x !== x && found[n] !== found[n]))
        fail(program, [adjoint], `${name}[${n}] is ${found[n]} on ${device.name}, ${x} by the evaluator`);
    views[name].buffer.free();
  }
}
