import { hipLanguage } from "../c/hip.js";
import { hipDialect } from "../c/hip/dialect.js";
import { cudaLikeFile } from "./cuda-like.js";
import { COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";

/** HIP C++ for hipcc. */
export const emitHipFile = (request: EmitRequest): EmittedFile[] =>
  cudaLikeFile("hip", request, hipDialect(true), hipLanguage, {
    name: `${request.stem}.hip.cpp`,
    command: `hipcc ${COMPILER_OPTIONS.hip(request.precision)}`,
    header: "hip/hip_runtime.h",
  });
