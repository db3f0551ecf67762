import { derive } from "../cache/derive.js";
import { View, type Buffer } from "../device/memory/view.js";
import { BlockedView, storageOf, type AnyView } from "../device/memory/blocked-view.js";
import { overlap } from "../device/memory/overlap.js";
import { GradientError } from "../base/errors.js";
import { differentiable } from "../ir/gradient/adjoint.js";
import { Refusals } from "../ir/gradient/refusals.js";
import { isFloat } from "../ir/scalars.js";
import type { AccessAnalysis } from "../ir/analysis/access.js";
import type { KernelIR } from "../ir/types.js";
import { compileKernel } from "../kernel/compile.js";
import { kernelFromIR } from "../kernel/declare/from-ir.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import type { Derivative } from "./derivative.js";
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
}

/** The kernel's code for its fixed values, and its adjoint by all floats but the scalars that are constants. Throws KernelError and GradientError. */
export function differentiated(kernel: Kernel, args: FlatArgs, scalars: readonly string[]): DifferentiatedKernel {
  const fixed: Record<string, number | boolean> = {};
  for (const [name, token] of Object.entries(kernel.params))
    if (typeof token === "object" && token?.kind === "fixed") fixed[name] = args[name] as number | boolean;
  return derive(compileKernel(kernel, fixed), differentiatedCode, scalars);
}

type Compiled = ReturnType<typeof compileKernel>;

function differentiatedCode({ ir, access, kernel, lists }: Compiled, scalars: readonly string[]): DifferentiatedKernel {
  const kinds = new Map(ir.params.map((param) => [param.name, param.kind]));
  const found = differentiable(ir);
  const views = found.filter((name) => kinds.get(name) !== "scalar");
  const numbers = found.filter((name) => kinds.get(name) === "scalar" && scalars.includes(name));
  const results = ir.params.flatMap((param) => (param.kind === "reduce" && isFloat(param.type) ? [param.name] : []));
  if (lists) new Refusals(ir.name, ir.location).lists(lists.lists[0].name);
  const wrt = [...views, ...numbers];
  const adjoint = wrt.length > 0 ? vjp(kernelFromIR(ir, kernel.location), { wrt }) : undefined;
  return { ir, access, adjoint, views, scalars: numbers, results };
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
 * @throws GradientError where one of them is written: an adjoint would take the order of its stores for any
 */
export function sharedViews(kernel: Kernel, { views, access }: DifferentiatedKernel, args: FlatArgs): readonly string[] {
  const shared: string[] = [];
  for (const [n, name] of views.entries())
    for (const other of views.slice(0, n)) {
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
      if (!shared.includes(name)) shared.push(name);
    }
  return shared;
}
