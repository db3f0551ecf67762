import type { AccessAnalysis } from "../../ir/analysis/access.js";
import type { KernelIR } from "../../ir/types.js";
import { cudaDialect } from "./cuda/dialect.js";
import { cudaScanSource, SCAN_SHAPE } from "./cuda/scan.js";
import { CUDA_SORT_SOURCE } from "./cuda/sort.js";
import { copySource } from "./gpu/copy.js";
import { finalThreads } from "../../schedule/features.js";
import { emitGpu, featuresOf } from "./gpu/emit.js";
import type { GpuAssumptions, GpuLanguage, GpuProgram } from "../../schedule/program.js";

/**
 * CUDA C++ of a kernel: its main entry, and what folds its partials and applies its sorted contributions. Entries may be started while what
 * comes before them still runs.
 */
export function emitCuda(ir: KernelIR, access: AccessAnalysis, assumptions: GpuAssumptions): GpuProgram {
  const dialect = cudaDialect(assumptions.wide);
  return emitGpu(ir, access, assumptions, {
    ...dialect,
    head: (strict) => [...dialect.head(strict), ...IN_TURN],
    startNext: "start_next();",
    opening: "in_turn();",
  });
}

/**
 * Lets the next kernel of the stream be started, and waits for the end of the one before. A condition in the code around the first costs more where
 * the compiler then orders loads otherwise: 7 % of a Laplacian on an H200.
 */
const IN_TURN = [
  "__device__ inline void start_next() {",
  "#if __CUDA_ARCH__ >= 900",
  '  asm volatile("griddepcontrol.launch_dependents;");',
  "#endif",
  "}",
  "__device__ inline void in_turn() {",
  "#if __CUDA_ARCH__ >= 900",
  '  asm volatile("griddepcontrol.wait;" ::: "memory");',
  "#endif",
  "}",
];

const dialect = cudaDialect(true);

export const cudaLanguage: GpuLanguage = {
  name: "CUDA",
  emit: emitCuda,
  sort: CUDA_SORT_SOURCE,
  sortShape: dialect.sortShape,
  scan: { ...SCAN_SHAPE, source: cudaScanSource },
  copies: copySource(dialect),
  finishThreads: dialect.finishThreads,
  finalThreads: finalThreads(featuresOf(dialect)),
  lanes: dialect.shuffle?.warp ?? 1,
  allReduces: dialect.peerAccess !== undefined,
};
