import { hipLanguage } from "../c/hip.js";
import { hipDialect } from "../c/hip/dialect.js";
import { cudaLikeFile, type CudaLike } from "./cuda-like.js";
import { COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";

/** HIP C++ for hipcc. */
export const HIP: CudaLike = {
  prefix: "hip",
  dialect: hipDialect(true),
  language: hipLanguage,
  header: "hip/hip_runtime.h",
  end: ".hip.cpp",
  command: (precision) => `hipcc ${COMPILER_OPTIONS.hip(precision)}`,
};

export const emitHipFile = (request: EmitRequest): EmittedFile[] => cudaLikeFile(HIP, request);
