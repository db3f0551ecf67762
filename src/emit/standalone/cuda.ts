import { prints } from "../../ir/print-records.js";
import { cudaLanguage } from "../c/cuda.js";
import { cudaDialect } from "../c/cuda/dialect.js";
import { allocator, cudaLike } from "./cuda-like.js";
import { writeGpuHost } from "./gpu-host.js";
import { deviceSource, gpuProgram } from "./gpu-program.js";
import { COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";

/** CUDA C++ for nvcc. */
export function emitCudaFile(request: EmitRequest): EmittedFile[] {
  const { stem, precision } = request;
  const dialect = cudaDialect(true);
  const program = gpuProgram(request, dialect);
  const allocates = program.reduces.length > 0 || program.sorted.length > 0;
  const head = [
    `// nvcc ${COMPILER_OPTIONS.cuda(precision)} -c ${stem}.cu`,
    "#include <cstdint>",
    ...(prints(request.ir.body) ? ["#include <cstdio>"] : []),
    "#include <cstring>",
    ...(allocates ? ["#include <map>", "#include <mutex>"] : []),
    "#include <cuda_runtime.h>",
    "",
    "// Does nothing once a call has failed.",
    "#define TRY(call) if (status == cudaSuccess) status = (call)",
    "",
    ...(allocates ? allocator("cuda", stem) : []),
  ];
  const text = `${head.join("\n")}\n${deviceSource(request, program, cudaLanguage)}\n${writeGpuHost(request, program, dialect, cudaLike("cuda", stem))}`;
  return [{ name: `${stem}.cu`, text }];
}
