import { copySource } from "./gpu/copy.js";
import { finalThreads } from "../../schedule/features.js";
import { emitGpu, featuresOf } from "./gpu/emit.js";
import type { GpuLanguage } from "../../schedule/program.js";
import { openclDialect, type OpenclFeatures } from "./opencl/dialect.js";
import { OPENCL_SORT_SOURCE } from "./opencl/sort.js";

/** OpenCL C for devices with these features. */
export function openclLanguage(features: OpenclFeatures): GpuLanguage {
  const dialect = openclDialect({ wide: true, strict: false }, features);
  return {
    name: `OpenCL ${JSON.stringify(features)}`,
    emit: (ir, access, assumptions) => emitGpu(ir, access, assumptions, openclDialect(assumptions, features)),
    sort: OPENCL_SORT_SOURCE,
    sortShape: dialect.sortShape,
    copies: copySource(dialect),
    finishThreads: dialect.finishThreads,
    finalThreads: finalThreads(featuresOf(dialect)),
    lanes: dialect.shuffle?.warp ?? 1,
    allReduces: dialect.peerAccess !== undefined,
  };
}
