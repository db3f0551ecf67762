import { EmitError } from "../../base/errors.js";
import { firstWide } from "../../ir/analysis/types-used.js";
import { ATOMIC_REMEDY, atomicProblem, dependsOnOrder } from "../../ir/atomic.js";
import { printOnce } from "../../ir/passes/record-prints.js";
import { emitC } from "./c.js";
import { emitCudaFile } from "./cuda.js";
import { emitHipFile } from "./hip.js";
import { emitJsFile } from "./js.js";
import { emitKokkos } from "./kokkos.js";
import { emitMetalFiles } from "./metal.js";
import type { TargetName } from "./names.js";
import { emitOmpTarget } from "./omp-target.js";
import { emitOpenacc } from "./openacc.js";
import { emitOpenclFiles } from "./opencl.js";
import { emitStdpar } from "./stdpar.js";
import { emitSyclFile } from "./sycl.js";
import { emitWatFiles } from "./wat.js";
import { emitWgslFiles } from "./wgsl.js";
import type { EmitRequest, EmittedFile } from "./request.js";

export { contiguousRows, cubicSizes, stemOf, type EmitRequest, type EmittedFile } from "./request.js";

/** Targets whose files have no integers of 64 bits. */
const WITHOUT_WIDE: ReadonlySet<string> = new Set<TargetName>(["kokkos", "metal", "omp-target", "openacc", "stdpar", "sycl", "wat"]);
const WIDE_REMEDY = "use i32 or u32, or emit c, cuda, hip, opencl, js or wgsl";

type Writer = (request: EmitRequest) => EmittedFile[];

const WRITERS: Readonly<Record<TargetName, Writer>> = {
  c: emitC,
  cuda: emitCudaFile,
  hip: emitHipFile,
  js: emitJsFile,
  kokkos: emitKokkos,
  metal: emitMetalFiles,
  "omp-target": emitOmpTarget,
  openacc: emitOpenacc,
  opencl: emitOpenclFiles,
  stdpar: emitStdpar,
  sycl: emitSyclFile,
  wat: emitWatFiles,
  wgsl: emitWgslFiles,
};

/** Writers of source files of their own, by the name of their target. Each throws EmitError for what it cannot express. */
export const TARGETS = Object.fromEntries(
  Object.entries(WRITERS).map(([name, write]): [string, Writer] => [
    name,
    (request) => {
      const found = request.precision === "strict" ? dependsOnOrder(request.ir) : undefined;
      const wide = WITHOUT_WIDE.has(name) ? firstWide(request.ir) : undefined;
      if (wide) throw new EmitError(request.ir.name, name, `${wide.what} is ${wide.type}, which is not emitted for it`, WIDE_REMEDY);
      if (found) throw new EmitError(request.ir.name, name, atomicProblem(found), ATOMIC_REMEDY);
      return write({ ...request, ir: printOnce(request.ir) });
    },
  ]),
) as Readonly<Record<TargetName, Writer>>;
