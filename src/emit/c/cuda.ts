import { analyseAccess, type AccessAnalysis } from "../../ir/access.js";
import type { KernelIR } from "../../ir/types.js";
import { cudaDialect } from "./cuda/dialect.js";
import { SORT_SOURCE } from "./cuda/sort.js";
import { copySource } from "./gpu/copy.js";
import { defaultAssumptions, emitGpu } from "./gpu/emit.js";
import type { GpuAssumptions, GpuLanguage, GpuProgram } from "./gpu/program.js";

/** CUDA C++ of a kernel: its main entry, and what folds its partials and applies its sorted contributions. */
export function emitCuda(ir: KernelIR, access: AccessAnalysis, assumptions: GpuAssumptions): GpuProgram {
  return emitGpu(ir, access, assumptions, cudaDialect(assumptions.wide));
}

const dialect = cudaDialect(true);

export const cudaLanguage: GpuLanguage = {
  name: "CUDA",
  emit: emitCuda,
  sort: SORT_SOURCE,
  copies: copySource(dialect),
  finishThreads: dialect.finishThreads,
  meets: dialect.lastBlock?.far !== undefined,
};

/** CUDA C++ of a kernel without a launch or a device, for people and for compiling in tests. */
export function cudaSource(kernel: { ir: KernelIR; access?: AccessAnalysis }, precision: "strict" | "fast" = "fast"): string {
  const { ir } = kernel;
  return emitCuda(ir, kernel.access ?? analyseAccess(ir), defaultAssumptions(ir, precision === "strict")).source;
}
