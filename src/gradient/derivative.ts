import { describe } from "../base/describe.js";
import { LaunchError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import type { Device, Launch, LaunchOptions } from "../device/device.js";
import type { Policy } from "../device/launch/policy.js";
import type { View } from "../device/memory/view.js";
import { Refusals } from "../ir/gradient/refusals.js";
import type { DerivativeCode } from "../ir/gradient/subject.js";
import type { KernelIR } from "../ir/types.js";
import { compileKernel } from "../kernel/compile.js";
import { kernelFromIR } from "../kernel/declare/from-ir.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import { ParameterParts } from "./parts.js";
import { requireSeparateArguments, requireSeparateDerivatives } from "./separate.js";

/** Arguments by name: the kernel's own, and its derivatives' with the ending `_bar` or `_dot`. */
export type DerivativeArgs = Readonly<Record<string, unknown>>;

/** Derivative of a kernel that is bound to arguments. */
export interface PreparedDerivative {
  /** In the order in which they run. */
  readonly launches: readonly Launch[];
  /** Submits all launches to the device's default queue. */
  submit(): void;
  /** Sums of the last submission, such as `a_bar`, once it is done. */
  results(): Promise<Record<string, unknown>>;
  /** Gives back temporary memory. The arguments stay. */
  free(): void;
}

/** The adjoint or the tangent of a kernel: kernels, one after the other. */
export interface Derivative {
  /** Ordinary kernels, in the order in which they run. */
  readonly kernels: readonly Kernel[];
  /** Arrays of the kernel whose values from before its launch are read. */
  readonly needs: readonly string[];
  /** Places where the gradient ends, and how contributions are added, a line each. */
  readonly remarks: readonly string[];
  /**
   * Runs all of them over the kernel's own range. Takes the kernel's arguments; those that derivatives do not use may be left out.
   *
   * @returns sums, such as `a_bar` of a scalar
   * @throws LaunchError for what a launch refuses
   */
  run(device: Device, args: DerivativeArgs, policy: Policy, options?: LaunchOptions): Promise<Record<string, unknown>>;
  /** The same, to be run as often as wanted. */
  prepare(device: Device, args: DerivativeArgs, policy: Policy, options?: LaunchOptions): PreparedDerivative;
}

/** Options that all derivatives take. */
export interface DerivativeOptions {
  /** Names of views, scatter targets and scalars of f64 and f32, those that gradients are wanted of. */
  readonly wrt: readonly string[];
  /** Values of parameters that the kernel declares `fixed`. */
  readonly fixed?: Readonly<Record<string, number | boolean>>;
}

/** Throws LaunchError for options that `what` does not have. */
export function requireDerivative(what: string, kernel: Kernel, options: DerivativeOptions, known: readonly string[]): void {
  requireThing(what, kernel, typeof kernel?.params === "object", "give a kernel that kernel(...) declares");
  requireOptions(what, options, ["wrt", "fixed", ...known]);
  const names = Array.isArray(options.wrt) && options.wrt.length > 0 && options.wrt.every((name) => typeof name === "string");
  requireThing(`${what}, for wrt,`, options.wrt, names, 'give names of parameters, wrt: ["x"]');
}

/** The kernel's code, without lists. Throws GradientError where it appends to one. */
export function codeOf(kernel: Kernel, fixed: DerivativeOptions["fixed"]): KernelIR {
  const { ir, lists } = compileKernel(kernel, fixed);
  if (lists) new Refusals(ir.name, ir.location).lists(lists.lists[0].name);
  return ir;
}

/** The derivative of a kernel by its code; its arguments and results end in `ending`. */
export function makeDerivative(kernel: Kernel, code: GivenCode, ending: "bar" | "dot", fixed: DerivativeOptions["fixed"] = {}): Derivative {
  return new KernelDerivative(kernel, code, ending, fixed);
}

/** Code of a derivative, and kernels that their author has given for it. */
type GivenCode = Omit<DerivativeCode, "kernels"> & { readonly kernels: readonly (KernelIR | Kernel)[] };

class KernelDerivative implements Derivative {
  readonly kernels: readonly Kernel[];
  readonly needs: readonly string[];
  readonly remarks: readonly string[];
  private readonly parts: ParameterParts;
  /** Views of one number that earlier kernels give to later ones. */
  private readonly passed: readonly string[];

  constructor(
    private readonly kernel: Kernel,
    code: GivenCode,
    private readonly ending: "bar" | "dot",
    private readonly fixed: Readonly<Record<string, number | boolean>>,
  ) {
    this.kernels = code.kernels.map((each) =>
      "body" in each && typeof each.body === "function" ? (each as Kernel) : kernelFromIR(each as KernelIR),
    );
    this.needs = code.needs;
    this.remarks = code.remarks;
    this.parts = new ParameterParts(kernel, ending);
    this.passed = this.kernels
      .slice(0, -1)
      .flatMap(({ ir }) => (ir?.params ?? []).filter(({ kind }) => kind === "reduce").map(({ name }) => name));
  }

  async run(device: Device, args: DerivativeArgs, policy: Policy, options: LaunchOptions = {}): Promise<Record<string, unknown>> {
    const { given, temporary } = this.bound(device, args);
    try {
      let results: Record<string, number> = {};
      for (const kernel of this.kernels)
        results = await device.run(kernel, argsOf(kernel, given), policy as never, this.optionsOf(options));
      return this.parts.results(results);
    } finally {
      for (const view of temporary) view.buffer.free();
    }
  }

  prepare(device: Device, args: DerivativeArgs, policy: Policy, options: LaunchOptions = {}): PreparedDerivative {
    const { given, temporary } = this.bound(device, args);
    const launches = this.kernels.map((kernel) => device.prepare(kernel, argsOf(kernel, given), policy as never, this.optionsOf(options)));
    return {
      launches,
      submit: () => launches.forEach((launch) => device.queue.submit(launch)),
      results: async () => this.parts.results((await device.queue.results(launches.at(-1)!)) as Record<string, number>),
      free: () => {
        for (const launch of launches) launch.free();
        for (const view of temporary) view.buffer.free();
      },
    };
  }

  /** Values are compared with the least or greatest one, bit by bit. */
  private optionsOf(options: LaunchOptions): LaunchOptions {
    return this.passed.length === 0 ? options : { ...options, precision: "strict" };
  }

  private bound(device: Device, args: DerivativeArgs): { given: Record<string, unknown>; temporary: View[] } {
    const known = new Set(this.kernels.flatMap(({ params }) => Object.keys(params)));
    const given = this.parts.flat(args, (name) => known.has(name));
    for (const [name, value] of Object.entries(this.fixed))
      if (Object.hasOwn(args, name) && args[name] !== value)
        throw new LaunchError(
          `the derivative of kernel "${this.kernel.name}" was made for ${name} = ${value}, and is given ${describe(args[name])}; make another with fixed: { ${name}: ... }`,
        );
    requireSeparateArguments(this.kernel, this.fixed, given);
    requireSeparateDerivatives(this.kernel, this.kernels, given, this.ending);
    const temporary: View[] = [];
    for (const name of this.passed) {
      if (Object.hasOwn(args, name))
        throw new LaunchError(`the derivative of kernel "${this.kernel.name}" finds ${name} itself; leave it out`);
      const token = this.kernels.map(({ params }) => params[name]).find((each) => (each as { kind?: string })?.kind === "view");
      const view = device.array({ type: (token as { element: "f64" }).element }, 1);
      temporary.push(view);
      given[name] = view;
    }
    return { given, temporary };
  }
}

/** Arguments that a kernel takes. */
const argsOf = ({ params }: Kernel, given: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(params, name)));
