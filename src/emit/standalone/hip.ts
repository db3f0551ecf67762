import { prints } from "../../ir/print-records.js";
import { hipLanguage } from "../c/hip.js";
import { hipDialect } from "../c/hip/dialect.js";
import { allocator, cudaLike } from "./cuda-like.js";
import { writeGpuHost } from "./gpu-host.js";
import { deviceSource, gpuProgram } from "./gpu-program.js";
import { COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";

/** HIP C++ for hipcc. */
export function emitHipFile(request: EmitRequest): EmittedFile[] {
  const { stem, precision } = request;
  const dialect = hipDialect(true);
  const program = gpuProgram(request, dialect);
  const allocates = program.reduces.length > 0 || program.sorted.length > 0;
  const head = [
    `// hipcc ${COMPILER_OPTIONS.hip(precision)} -c ${stem}.hip.cpp`,
    "#include <cstdint>",
    ...(prints(request.ir.body) ? ["#include <cstdio>"] : []),
    "#include <cstring>",
    ...(allocates ? ["#include <map>", "#include <mutex>"] : []),
    "#include <hip/hip_runtime.h>",
    "",
    "// Does nothing once a call has failed.",
    "#define TRY(call) if (status == hipSuccess) status = (call)",
    "",
    ...(allocates ? allocator("hip", stem) : []),
  ];
  const text = `${head.join("\n")}\n${deviceSource(request, program, hipLanguage)}\n${writeGpuHost(request, program, dialect, cudaLike("hip", stem))}`;
  return [{ name: `${stem}.hip.cpp`, text }];
}
