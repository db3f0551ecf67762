import { memoised, named } from "#memoise";
import { verify } from "#verify";
import { derive } from "../cache/derive.js";
import { descending } from "./read/depth.js";
import { analyseAccess, type AccessAnalysis } from "../ir/analysis/access.js";
import { unprovedAccesses, type LaunchFacts } from "../ir/analysis/proofs.js";
import { blockViews, type FirstAxisSplit } from "../ir/passes/block-views.js";
import { checkIndices } from "../ir/passes/check-indices.js";
import { viewsToProve } from "../ir/analysis/launch-races.js";
import { optimise } from "../ir/passes/optimise.js";
import { recordPrints } from "../ir/passes/record-prints.js";
import { checkRaces } from "../ir/analysis/races.js";
import { relax } from "../ir/passes/relax.js";
import type { KernelIR } from "../ir/types.js";
import type { Kernel } from "./declare/kernel.js";
import { lower } from "./lower/lower.js";
import { listSupport } from "./declare/list-support.js";
import type { listKernels, ListKernels, withoutLists } from "./lower/list-kernels.js";
import type { KernelWithLists } from "./lower/lists.js";

/** A kernel after the front end and the passes: what emitters start from. */
export interface CompiledKernel {
  kernel: Kernel;
  ir: KernelIR;
  access: AccessAnalysis;
  /** Views that each launch must prove free of races (see `viewsToProve`). */
  toProve: readonly string[];
  /** Kernels that count and fill the lists; `ir` does all else. */
  lists?: ListKernels;
}

/** The kernel as fast mode runs it (see `relax`); costs are counted on the strict one. */
export const relaxedKernel = (strict: CompiledKernel): CompiledKernel => derive(strict, relaxed);

function relaxed(strict: CompiledKernel): CompiledKernel {
  const code = memoised("relaxed", named(strict.ir), () => {
    const ir = relax(strict.ir);
    return { ir, access: analyseAccess(ir) };
  });
  return { ...strict, ...code };
}

/** A kernel whose code a pass has changed. */
const withCode = (kernel: CompiledKernel, ir: KernelIR): CompiledKernel =>
  ir === kernel.ir ? kernel : { ...kernel, ir, access: analyseAccess(ir) };

/** The kernel with those indices checked while it runs that may be outside in this launch; remembered for each choice of them. */
export function checkedKernel(plain: CompiledKernel, known: LaunchFacts): CompiledKernel {
  const unproved = unprovedAccesses(plain.ir, known);
  if (unproved.size === 0) return plain;
  const arrays = plain.ir.params.filter((p) => p.kind === "view" || p.kind === "scatter").map(({ name }) => name);
  const empty = new Set(arrays.filter((name) => known.shape(name).includes(0)));
  const text = JSON.stringify([[...unproved.values()].map(({ number, axes }) => [number, ...axes]), ...empty]);
  return derive(plain, checked, { unproved, empty }, text);
}

type Checks = { readonly unproved: ReturnType<typeof unprovedAccesses>; readonly empty: ReadonlySet<string> };

const checked = (plain: CompiledKernel, { unproved, empty }: Checks): CompiledKernel =>
  withCode(plain, checkIndices(plain.ir, unproved, empty));

/** The kernel with the lines that it prints recorded; itself where it prints none. */
export const printingKernel = (plain: CompiledKernel): CompiledKernel => derive(plain, printing);

const printing = (plain: CompiledKernel): CompiledKernel => withCode(plain, recordPrints(plain.ir));

/** The kernel over views with the first axis of some split, remembered for each way of splitting. */
export const blockedKernel = (plain: CompiledKernel, splits: ReadonlyMap<string, FirstAxisSplit>): CompiledKernel =>
  splits.size === 0
    ? plain
    : derive(plain, blocked, splits, [...splits].map(([name, { block, length }]) => `${name}=${block}*${length}`).join());

const blocked = (plain: CompiledKernel, splits: ReadonlyMap<string, FirstAxisSplit>): CompiledKernel =>
  withCode(plain, blockViews(plain.ir, splits));

export interface CompileOptions {
  /** Accept `console.log`, for a device that calls the function itself. */
  debug?: boolean;
}

/** Parses, types, optimises, analyses and checks; remembered for each kernel and set of values of its `fixed` parameters. Throws KernelError. */
export function compileKernel(
  kernel: Kernel,
  fixed: Readonly<Record<string, number | bigint | boolean>> = {},
  options: CompileOptions = {},
): CompiledKernel {
  if (kernel.written) return compileKernel(kernel.written, fixed, options);
  const values = Object.entries(fixed).map(([name, value]) => `${name}=${Object.is(value, -0) ? "-0" : value}`);
  return derive(kernel, compiled, { fixed, options }, [...values.sort(), options.debug ?? false].join());
}

type Asked = { readonly fixed: Readonly<Record<string, number | bigint | boolean>>; readonly options: CompileOptions };

function compiled(kernel: Kernel, { fixed, options }: Asked): CompiledKernel {
  return descending(kernel, () => {
    const whole: KernelWithLists = kernel.ir ?? lower(kernel, fixed, options.debug);
    const code = memoised("optimised", whole, () => {
      if (kernel.ir) verify(kernel.ir);
      const { lists } = whole;
      const support = lists && listSupport<{ withoutLists: typeof withoutLists; listKernels: typeof listKernels }>();
      const ir = optimise(support ? support.withoutLists(whole) : whole);
      const access = analyseAccess(ir);
      const toProve = viewsToProve(ir, access);
      checkRaces(ir, access, toProve);
      return { ir, access, toProve, ...(support && { lists: support.listKernels({ ...whole, lists }) }) };
    });
    return { kernel, ...code };
  });
}
