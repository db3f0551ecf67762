import { derive } from "../cache/derive.js";
import { View, type Buffer } from "../device/memory/view.js";
import { BlockedView, storageOf, type AnyView } from "../device/memory/blocked-view.js";
import { overlap } from "../device/memory/overlap.js";
import { GradientError, LaunchError } from "../base/errors.js";
import { differentiable } from "../ir/gradient/adjoint.js";
import { Refusals } from "../ir/gradient/refusals.js";
import { isFloat } from "../ir/scalars.js";
import type { AccessAnalysis } from "../ir/analysis/access.js";
import type { KernelIR } from "../ir/types.js";
import { compileKernel } from "../kernel/compile.js";
import { kernelFromIR } from "../kernel/declare/from-ir.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import type { Derivative } from "./derivative.js";
import { derivativeType } from "./bars.js";
import { ruleOf } from "./rule.js";
import { vjp } from "./vjp.js";

/** Arguments by the names of the flat kernel. */
export type FlatArgs = Readonly<Record<string, unknown>>;

/** A kernel's code, and its adjoint, as a tape uses them. */
export interface DifferentiatedKernel {
  readonly ir: KernelIR;
  readonly access: AccessAnalysis;
  /** Undefined where it stores no floats. */
  readonly adjoint: Derivative | undefined;
  /** Views and scatter targets whose adjoints it reads or adds to. */
  readonly views: readonly string[];
  /** Scalars that gradients are wanted of. */
  readonly scalars: readonly string[];
  /** Reductions of floats. */
  readonly results: readonly string[];
  /** Views that it reads, and that its author's rule leaves out. */
  readonly unknown: readonly string[];
}

/** The kernel's code for its fixed values, and its adjoint by all floats but the scalars that are constants. Throws KernelError and GradientError. */
export function differentiated(kernel: Kernel, args: FlatArgs, scalars: readonly string[]): DifferentiatedKernel {
  const fixed: Record<string, number | boolean> = {};
  for (const [name, token] of Object.entries(kernel.params))
    if (typeof token === "object" && token?.kind === "fixed") fixed[name] = args[name] as number | boolean;
  const compiled = compileKernel(kernel, fixed);
  const author = kernel.written ?? kernel;
  if (ruleOf(author) === undefined) return derive(compiled, differentiatedCode, scalars);
  if (kernel.written)
    throw new LaunchError(
      `kernel "${kernel.name}" on a tape has a rule(...) and parameters of several numbers: give it plain views and numbers`,
    );
  return ruledKernel(kernel, compiled, fixed, scalars);
}

type Compiled = ReturnType<typeof compileKernel>;

/** Parts of `DifferentiatedKernel` that the code alone tells. */
function partsOfCode({ ir, access, lists }: Compiled): Pick<DifferentiatedKernel, "ir" | "access" | "results"> {
  if (lists) new Refusals(ir.name, ir.location).lists(lists.lists[0].name);
  const results = ir.params.flatMap((param) => (param.kind === "reduce" && isFloat(param.type) ? [param.name] : []));
  return { ir, access, results };
}

function differentiatedCode(compiled: Compiled, scalars: readonly string[]): DifferentiatedKernel {
  const parts = partsOfCode(compiled);
  const { ir } = parts;
  const kinds = new Map(ir.params.map((param) => [param.name, param.kind]));
  const found = differentiable(ir);
  const views = found.filter((name) => kinds.get(name) !== "scalar");
  const numbers = found.filter((name) => kinds.get(name) === "scalar" && scalars.includes(name));
  const wrt = [...views, ...numbers];
  const adjoint = wrt.length > 0 ? vjp(kernelFromIR(ir, compiled.kernel.location), { wrt }) : undefined;
  return { ...parts, adjoint, views, scalars: numbers, unknown: [] };
}

/** The same of a kernel whose author has given a rule. */
function ruledKernel(
  kernel: Kernel,
  compiled: Compiled,
  fixed: Readonly<Record<string, number | boolean>>,
  scalars: readonly string[],
): DifferentiatedKernel {
  const parts = partsOfCode(compiled);
  const { access, ir } = parts;
  const own = ruleOf(kernel)!;
  const floats = ir.params.flatMap((param) =>
    (param.kind === "view" || param.kind === "scatter") && derivativeType(param.element) ? [param.name] : [],
  );
  const stored = floats.filter((name) => access.views[name]!.written || access.views[name]!.scattered);
  const isScalar = (name: string): boolean => ir.params.some((param) => param.name === name && param.kind === "scalar");
  const known = own === "none" ? stored : own.wrt;
  const views = [...new Set([...known.filter((name) => !isScalar(name)), ...stored])];
  const numbers = own === "none" ? [] : [...scalars];
  const wrt = [...known.filter((name) => !isScalar(name)), ...numbers];
  const adjoint = wrt.length > 0 ? vjp(kernel, { wrt, fixed }) : undefined;
  const unknown = own === "none" ? [] : floats.filter((name) => access.views[name]!.read && !views.includes(name));
  return { ...parts, adjoint, views, scalars: numbers, unknown };
}

/** Views among the arguments that the code writes, results on the device included. */
export function writtenViews({ access, ir }: DifferentiatedKernel, args: FlatArgs): AnyView[] {
  const results = ir.params.filter(({ kind }) => kind === "reduce").map(({ name }) => name);
  const names = [...Object.keys(access.views).filter((name) => access.views[name]!.written || access.views[name]!.scattered), ...results];
  return names.flatMap((name) => (isAnyView(args[name]) ? [args[name]] : []));
}

/** Memory of views, each piece once. */
export const buffersOfViews = (views: readonly AnyView[]): ReadonlySet<Buffer> => new Set(views.map((view) => storageOf(view).buffer));

export const isAnyView = (value: unknown): value is AnyView => value instanceof View || value instanceof BlockedView;

/**
 * Parameters of floats that are given memory which an earlier one has, too. What reaches them has to be kept apart at first.
 * @throws GradientError where one of two arrays in one memory is written: an adjoint would take the order of its stores for any, also where the other one only
 * decides what is computed
 */
export function sharedViews(kernel: Kernel, { views, access, adjoint }: DifferentiatedKernel, args: FlatArgs): readonly string[] {
  const shared: string[] = [];
  if (!adjoint) return shared;
  const all = Object.keys(access.views);
  for (const [n, name] of all.entries())
    for (const other of all.slice(0, n)) {
      const [a, b] = [args[name], args[other]];
      if (!isAnyView(a) || !isAnyView(b) || !overlap(storageOf(a), storageOf(b))) continue;
      const changed = [name, other].find((each) => access.views[each]!.written || access.views[each]!.scattered);
      if (changed !== undefined)
        throw new GradientError(
          kernel.name,
          kernel.location,
          `"${other}" and "${name}" are given one memory, and it writes "${changed}": its gradient is not known then`,
          "write the kernel over one view, or give it two",
        );
      if (views.includes(name) && views.includes(other) && !shared.includes(name)) shared.push(name);
    }
  return shared;
}
