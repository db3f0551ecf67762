import { GradientError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import type { Device } from "../device/device.js";
import type { Policy } from "../device/launch/policy.js";
import { View } from "../device/memory/view.js";
import { typeOfParam } from "../ir/gradient/subject.js";
import { isFloat, valueType, type ElementType } from "../ir/scalars.js";
import type { KernelIR, Param } from "../ir/types.js";
import { changedIn } from "../ir/walk.js";
import { compileKernel } from "../kernel/compile.js";
import { kernelFromIR } from "../kernel/declare/from-ir.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import { codeOf, type Derivative, type DerivativeArgs, type DerivativeOptions } from "./derivative.js";
import { jvp } from "./jvp.js";
import { ParameterParts } from "./parts.js";
import { requireSeparateArguments } from "./separate.js";
import { vjp } from "./vjp.js";

/** Options of `checkGradient`. */
export interface CheckOptions extends DerivativeOptions {
  /** Random directions. Default: 3. */
  readonly directions?: number;
  /** Start of the random numbers. Default: 1. */
  readonly seed?: number;
}

/** Errors of a gradient, relative to the sum of the terms' magnitudes. */
export interface GradientCheck {
  /** Greatest difference between the tangent and the adjoint: |<w, J v> - <Jᵀ w, v>|. */
  readonly identity: number;
  /** Greatest difference between the tangent and the best central difference. */
  readonly differences: number;
}

/** Bounds of the errors, and steps of the central differences, by precision. */
const BOUNDS = {
  f64: { identity: 1e-12, differences: 1e-6, steps: [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8] },
  f32: { identity: 1e-5, differences: 1e-2, steps: [1e-1, 3e-2, 1e-2, 3e-3, 1e-3] },
};

/**
 * Checks the gradient of a kernel for given arguments, which stay as they are: the tangent and the adjoint must agree to 1e-12 (f32: 1e-5) of the sum of the
 * terms' magnitudes, and the tangent and the best of some central differences to 1e-6 (f32: 1e-2), in random directions. Runs in strict mode.
 *
 * @returns the errors
 * @throws GradientError that names what differs most, and for kernels whose gradient is not known
 */
export async function checkGradient(
  device: Device,
  kernel: Kernel,
  args: DerivativeArgs,
  policy: Policy,
  options: CheckOptions,
): Promise<GradientCheck> {
  requireOptions("checkGradient", options, ["wrt", "fixed", "directions", "seed"]);
  const { wrt, fixed, directions = 3, seed = 1 } = options;
  const isCount = Number.isInteger(directions) && directions > 0;
  requireThing("checkGradient, for directions,", directions, isCount, "give a whole number of at least 1");
  const parts = new ParameterParts(kernel, "bar");
  // The code takes parts of vectors and records by names of their own.
  const flat = kernelFromIR(codeOf(kernel, fixed));
  const names = parts.names(wrt);
  const check = new Check(device, flat, policy, names);
  await check.take(parts.flat(args, () => true));
  const random = randomNumbers(seed);
  let worst: GradientCheck = { identity: 0, differences: 0 };
  for (let n = 0; n < directions; n++) {
    const { identity, differences } = await check.direction(random);
    worst = { identity: Math.max(worst.identity, identity), differences: Math.max(worst.differences, differences) };
  }
  return worst;
}

/** Numbers between -0.5 and 0.5 by a linear congruence. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

/** A parameter's numbers: one of a scalar. */
interface Numbers {
  readonly element: ElementType;
  readonly shape: readonly number[] | undefined;
  readonly data: Float64Array;
}
type Vectors = Map<string, Float64Array>;

/** Checks in one direction after another. */
class Check {
  private readonly values = new Map<string, Numbers>();
  /** Arguments that are not floats: numbers, and arrays by their values, as the kernel may change them. */
  private others: Record<string, unknown> = {};
  private readonly integers = new Map<string, { readonly view: View; readonly data: ArrayLike<number> }>();
  private readonly ir: KernelIR;
  private readonly tangent: Derivative;
  private readonly adjoint: Derivative;
  private readonly outputs: readonly Param[];
  private readonly bounds: (typeof BOUNDS)["f64"];

  constructor(
    private readonly device: Device,
    private readonly kernel: Kernel,
    private readonly policy: Policy,
    private readonly inputs: readonly string[],
  ) {
    this.ir = compileKernel(kernel).ir;
    this.tangent = jvp(kernel, { wrt: inputs });
    this.adjoint = vjp(kernel, { wrt: inputs });
    const changed = changedIn(this.ir.body, "view", "scatter", "reduction");
    const taken = new Set(this.adjoint.kernels.flatMap(({ params }) => Object.keys(params)));
    this.outputs = this.ir.params.filter(({ name }) => changed.has(name) && taken.has(`${name}_bar`));
    this.bounds = BOUNDS[this.ir.params.some((param) => typeOfParam(param) === "f32") ? "f32" : "f64"];
  }

  /** Copies what the kernel is given. */
  async take(given: Readonly<Record<string, unknown>>): Promise<void> {
    requireSeparateArguments(this.kernel, {}, given);
    for (const param of this.ir.params) {
      const value = given[param.name];
      if (param.kind === "reduce") continue;
      if (!isFloat(typeOfParam(param))) await this.takeInteger(param.name, value);
      else if (typeof value === "number") this.values.set(param.name, { element: "f64", shape: undefined, data: Float64Array.of(value) });
      else {
        const view = value as View;
        requireThing(
          `checkGradient, for ${param.name},`,
          value,
          typeof view?.shape === "object",
          "give an array, or a number for a scalar",
        );
        const data = Float64Array.from((await this.device.queue.read(view)) as ArrayLike<number>);
        this.values.set(param.name, { element: view.type, shape: view.shape, data });
      }
    }
  }

  private async takeInteger(name: string, value: unknown): Promise<void> {
    if (value instanceof View) this.integers.set(name, { view: value, data: await this.device.queue.read(value) });
    else this.others[name] = value;
  }

  /** The errors in one random direction. Throws GradientError where they are too large. */
  async direction(random: () => number): Promise<GradientCheck> {
    const ahead: Vectors = new Map(this.inputs.map((name) => [name, this.like(name, random)]));
    const seeds: Vectors = new Map(this.outputs.map(({ name }) => [name, this.like(name, random)]));
    const dots = await this.derivative("dot", ahead);
    const bars = await this.derivative("bar", seeds);
    const [left, right] = [inner(seeds, dots), inner(ahead, bars)];
    const size = left.size + right.size || 1;
    const identity = Math.abs(left.sum - right.sum) / size;
    if (!(identity <= this.bounds.identity))
      this.refuse(`its tangent gives ${left.sum} and its adjoint ${right.sum} for the same number`, "report this: one of them is wrong");
    return { identity, differences: await this.difference(ahead, seeds, dots) };
  }

  private async difference(ahead: Vectors, seeds: Vectors, dots: Vectors): Promise<number> {
    let best = { error: Infinity, found: new Map() as Vectors };
    const exact = inner(seeds, dots);
    for (const step of this.bounds.steps) {
      const [up, down] = [await this.primal(ahead, step), await this.primal(ahead, -step)];
      const found: Vectors = new Map([...up].map(([name, data]) => [name, data.map((x, n) => (x - down.get(name)![n]) / (2 * step))]));
      const error = Math.abs(inner(seeds, found).sum - exact.sum) / (exact.size || 1);
      if (error < best.error) best = { error, found };
    }
    if (!(best.error <= this.bounds.differences)) this.refuseWorst(dots, best.found, best.error);
    return best.error;
  }

  /** Names the number of the results whose derivative differs most. */
  private refuseWorst(dots: Vectors, found: Vectors, error: number): never {
    let worst = { distance: -1, text: "" };
    for (const [name, data] of found)
      for (const [n, x] of data.entries()) {
        const distance = Math.abs(x - dots.get(name)![n]);
        if (!(distance <= worst.distance)) worst = { distance, text: `${name}[${n}]: derivative ${dots.get(name)![n]}, difference ${x}` };
      }
    return this.refuse(
      `its derivative differs from central differences by ${error.toExponential(1)} of the magnitudes; most at ${worst.text}`,
      "look for jumps there: a branch, floor or a cast that goes another way on both sides",
    );
  }

  private refuse(problem: string, remedy: string): never {
    throw new GradientError(this.kernel.name, this.kernel.location, problem, remedy);
  }

  private like(name: string, random: () => number): Float64Array {
    return Float64Array.from({ length: this.values.get(name)?.data.length ?? 1 }, random);
  }

  /** Runs a derivative; gives dots of the results, or bars of what gradients are wanted of. */
  private async derivative(ending: "dot" | "bar", given: Vectors): Promise<Vectors> {
    const derivative = ending === "dot" ? this.tangent : this.adjoint;
    const taken = new Map(derivative.kernels.flatMap(({ params }) => Object.entries(params)));
    const { args, views } = this.arguments(new Map());
    for (const name of [...this.values.keys(), ...this.outputs.map((param) => param.name)]) {
      const { kind } = (taken.get(`${name}_${ending}`) ?? {}) as { kind?: string };
      if (kind === undefined || kind === "reduce") continue;
      const numbers = this.values.get(name);
      const data = given.get(name) ?? new Float64Array(numbers?.data.length ?? 1);
      if (kind === "scalar") args[`${name}_${ending}`] = data[0];
      else {
        const view = this.device.from({ type: valueType(numbers!.element) as "f64" }, data, numbers!.shape as number[]);
        views.set(`${name}_${ending}`, view);
        args[`${name}_${ending}`] = view;
      }
    }
    const results = (await derivative.run(this.device, args, this.policy, STRICT)) as Record<string, number>;
    const names = ending === "dot" ? this.outputs.map(({ name }) => name) : this.inputs;
    const found: Vectors = new Map();
    for (const name of names) {
      const view = views.get(`${name}_${ending}`);
      const numbers = view
        ? Float64Array.from((await this.device.queue.read(view)) as ArrayLike<number>)
        : Float64Array.of(results[`${name}_${ending}`] ?? 0);
      found.set(name, numbers);
    }
    for (const view of views.values()) view.buffer.free();
    return found;
  }

  private arguments(moved: Vectors, step = 0): { args: Record<string, unknown>; views: Map<string, View> } {
    const args: Record<string, unknown> = { ...this.others };
    const views = new Map<string, View>();
    for (const [name, { view, data }] of this.integers) {
      const copy = this.device.from({ type: view.type as "i32" }, data, view.shape as number[]) as View;
      views.set(name, copy);
      args[name] = copy;
    }
    for (const [name, { element, shape, data }] of this.values) {
      const by = moved.get(name);
      const values = by ? data.map((x, n) => x + step * by[n]) : data;
      if (!shape) args[name] = values[0];
      else {
        const view = this.device.from({ type: element as "f64" }, values, shape as number[]);
        views.set(name, view);
        args[name] = view;
      }
    }
    return { args, views };
  }

  /** Results of the kernel at a distance from the arguments. */
  private async primal(ahead: Vectors, step: number): Promise<Vectors> {
    const { args, views } = this.arguments(ahead, step);
    const results = (await this.device.run(this.kernel, args, this.policy as never, STRICT)) as Record<string, number>;
    const found: Vectors = new Map();
    for (const { name, kind } of this.outputs)
      found.set(
        name,
        kind === "reduce"
          ? Float64Array.of(results[name])
          : Float64Array.from((await this.device.queue.read(views.get(name)!)) as ArrayLike<number>),
      );
    for (const view of views.values()) view.buffer.free();
    return found;
  }
}

const STRICT = { precision: "strict" } as const;

/** The sum of products, and of their magnitudes. */
function inner(a: Vectors, b: Vectors): { sum: number; size: number } {
  let [sum, size] = [0, 0];
  for (const [name, data] of a)
    for (const [n, x] of data.entries()) {
      const product = x * b.get(name)![n];
      sum += product;
      size += Math.abs(product);
    }
  return { sum, size };
}
