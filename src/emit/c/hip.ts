import type { AccessAnalysis } from "../../ir/analysis/access.js";
import type { KernelIR } from "../../ir/types.js";
import { sortSource } from "./cuda/sort.js";
import { copySource } from "./gpu/copy.js";
import { finalThreads } from "../../schedule/features.js";
import { emitGpu, featuresOf } from "./gpu/emit.js";
import type { GpuAssumptions, GpuLanguage, GpuProgram } from "../../schedule/program.js";
import { hipDialect } from "./hip/dialect.js";

/** HIP C++ of a kernel: its main entry, and what folds its partials and applies its sorted contributions. */
export function emitHip(ir: KernelIR, access: AccessAnalysis, assumptions: GpuAssumptions): GpuProgram {
  return emitGpu(ir, access, assumptions, hipDialect(assumptions.wide));
}

/** HIP has no function that compares numbers over a wavefront; one vote for each bit does. */
const SAME_NUMBER = `
__device__ inline unsigned int same_number(unsigned int number)
{
  unsigned long long same = ~0ull;
  for (int bit = 0; bit < 9; bit++) {
    const bool set = number >> bit & 1u;
    const unsigned long long those = __ballot(set);
    same &= set ? those : ~those;
  }
  return (unsigned int)same;
}
`;

const dialect = hipDialect(true);

export const hipLanguage: GpuLanguage = {
  name: "HIP",
  emit: emitHip,
  // A block of 32 threads is part of one wavefront, for which a barrier is no more than a fence.
  sort: sortSource({ sync: "__syncthreads()", same: (number) => `same_number(${number})`, definition: SAME_NUMBER }),
  copies: copySource(dialect),
  finishThreads: dialect.finishThreads,
  finalThreads: finalThreads(featuresOf(dialect)),
  lanes: dialect.shuffle?.warp ?? 1,
  allReduces: dialect.peerAccess !== undefined,
};
