import { memoised, named } from "#memoise";
import { verify } from "#verify";
import { descending } from "./read/depth.js";
import { analyseAccess, type AccessAnalysis } from "../ir/analysis/access.js";
import { unprovedAccesses, type Known } from "../ir/analysis/proofs.js";
import { blockViews, type Split } from "../ir/passes/block-views.js";
import { checkIndices } from "../ir/passes/check-indices.js";
import { viewsToProve } from "../ir/analysis/launch-races.js";
import { optimise } from "../ir/passes/optimise.js";
import { recordPrints } from "../ir/passes/record-prints.js";
import { checkRaces } from "../ir/analysis/races.js";
import { relax } from "../ir/passes/relax.js";
import type { KernelIR } from "../ir/types.js";
import type { Kernel } from "./declare/kernel.js";
import { lower } from "./lower/lower.js";

/** A kernel after the front end and the passes: what emitters start from. */
export interface CompiledKernel {
  kernel: Kernel;
  ir: KernelIR;
  access: AccessAnalysis;
  /** Views that each launch must prove free of races (see `viewsToProve`). */
  toProve: readonly string[];
}

const relaxed = new WeakMap<CompiledKernel, CompiledKernel>();

/** The kernel as fast mode runs it (see `relax`); costs are counted on the strict one. */
export function relaxedKernel(strict: CompiledKernel): CompiledKernel {
  let fast = relaxed.get(strict);
  if (!fast) {
    const code = memoised("relaxed", named(strict.ir), () => {
      const ir = relax(strict.ir);
      return { ir, access: analyseAccess(ir) };
    });
    fast = { ...strict, ...code };
    relaxed.set(strict, fast);
  }
  return fast;
}

const checked = new WeakMap<CompiledKernel, Map<string, CompiledKernel>>();

/** The kernel with those indices checked while it runs that may be outside in this launch; remembered for each choice of them. */
export function checkedKernel(plain: CompiledKernel, known: Known): CompiledKernel {
  const unproved = unprovedAccesses(plain.ir, known);
  if (unproved.size === 0) return plain;
  const variants = checked.get(plain) ?? new Map<string, CompiledKernel>();
  checked.set(plain, variants);
  const arrays = plain.ir.params.filter((p) => p.kind === "view" || p.kind === "scatter").map(({ name }) => name);
  const empty = new Set(arrays.filter((name) => known.shape(name).includes(0)));
  const key = JSON.stringify([[...unproved.values()].map(({ number, axes }) => [number, ...axes]), ...empty]);
  let variant = variants.get(key);
  if (!variant) {
    const ir = checkIndices(plain.ir, unproved, empty);
    variant = { ...plain, ir, access: analyseAccess(ir) };
    variants.set(key, variant);
  }
  return variant;
}

const printing = new WeakMap<CompiledKernel, CompiledKernel>();

/** The kernel with the lines that it prints recorded; itself where it prints none. */
export function printingKernel(plain: CompiledKernel): CompiledKernel {
  let recording = printing.get(plain);
  if (!recording) {
    const ir = recordPrints(plain.ir);
    recording = ir === plain.ir ? plain : { ...plain, ir, access: analyseAccess(ir) };
    printing.set(plain, recording);
  }
  return recording;
}

const blocked = new WeakMap<CompiledKernel, Map<string, CompiledKernel>>();

/** The kernel over views with the first axis of some split, remembered for each way of splitting. */
export function blockedKernel(plain: CompiledKernel, splits: ReadonlyMap<string, Split>): CompiledKernel {
  if (splits.size === 0) return plain;
  const variants = blocked.get(plain) ?? new Map<string, CompiledKernel>();
  blocked.set(plain, variants);
  const key = [...splits].map(([name, { block, length }]) => `${name}=${block}*${length}`).join();
  let variant = variants.get(key);
  if (!variant) {
    const ir = blockViews(plain.ir, splits);
    variant = { ...plain, ir, access: analyseAccess(ir) };
    variants.set(key, variant);
  }
  return variant;
}

export interface CompileOptions {
  /** Accept `console.log`, for a device that calls the function itself. */
  debug?: boolean;
}

const compiled = new WeakMap<Kernel, Map<string, CompiledKernel>>();

/** Parses, types, optimises, analyses and checks; remembered for each kernel and set of values of its `fixed` parameters. Throws KernelError. */
export function compileKernel(
  kernel: Kernel,
  fixed: Readonly<Record<string, number | boolean>> = {},
  options: CompileOptions = {},
): CompiledKernel {
  const variants = compiled.get(kernel) ?? new Map<string, CompiledKernel>();
  compiled.set(kernel, variants);
  const values = Object.entries(fixed).map(([name, value]) => `${name}=${Object.is(value, -0) ? "-0" : value}`);
  const key = [...values.sort(), options.debug ?? false].join();
  let variant = variants.get(key);
  if (!variant) {
    variant = compiledAnew(kernel, fixed, options);
    variants.set(key, variant);
  }
  return variant;
}

function compiledAnew(kernel: Kernel, fixed: Readonly<Record<string, number | boolean>>, options: CompileOptions): CompiledKernel {
  return descending(kernel, () => {
    const whole = kernel.ir ?? lower(kernel, fixed, options.debug);
    const code = memoised("optimised", whole, () => {
      if (kernel.ir) verify(kernel.ir);
      const ir = optimise(whole);
      const access = analyseAccess(ir);
      const toProve = viewsToProve(ir, access);
      checkRaces(ir, access, toProve);
      return { ir, access, toProve };
    });
    return { kernel, ...code };
  });
}
