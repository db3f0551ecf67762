import type { AccessAnalysis } from "../../ir/analysis/access.js";
import type { KernelIR } from "../../ir/types.js";
import { copySource } from "./gpu/copy.js";
import { finalThreads } from "../../schedule/features.js";
import { emitGpu, featuresOf } from "./gpu/emit.js";
import type { GpuAssumptions, GpuLanguage, GpuProgram } from "../../schedule/program.js";
import { hipDialect } from "./hip/dialect.js";
import { HIP_SORT_SOURCE } from "./hip/sort.js";

/** HIP C++ of a kernel: its main entry, and what folds its partials and applies its sorted contributions. */
export function emitHip(ir: KernelIR, access: AccessAnalysis, assumptions: GpuAssumptions): GpuProgram {
  return emitGpu(ir, access, assumptions, hipDialect(assumptions.wide));
}

const dialect = hipDialect(true);

export const hipLanguage: GpuLanguage = {
  name: "HIP",
  emit: emitHip,
  sort: HIP_SORT_SOURCE,
  sortShape: dialect.sortShape,
  copies: copySource(dialect),
  finishThreads: dialect.finishThreads,
  finalThreads: finalThreads(featuresOf(dialect)),
  lanes: dialect.shuffle?.warp ?? 1,
  allReduces: dialect.peerAccess !== undefined,
};
