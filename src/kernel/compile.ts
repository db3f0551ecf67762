import type { AccessAnalysis } from "../ir/access.js";
import type { KernelIR } from "../ir/types.js";
import type { Kernel } from "./kernel.js";

/** A kernel after the front end and the passes: what emitters start from. */
export interface CompiledKernel {
  kernel: Kernel;
  ir: KernelIR;
  access: AccessAnalysis;
}

/** Parses, types, checks, optimises and analyses; remembered for each kernel and set of values of its `fixed` parameters. */
export declare function compileKernel(kernel: Kernel, fixed: Readonly<Record<string, number | boolean>>): CompiledKernel;
