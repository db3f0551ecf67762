import { cudaLanguage } from "../c/cuda.js";
import { cudaDialect } from "../c/cuda/dialect.js";
import { cudaLikeFile } from "./cuda-like.js";
import { COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";

/** CUDA C++ for nvcc. */
export const emitCudaFile = (request: EmitRequest): EmittedFile[] =>
  cudaLikeFile("cuda", request, cudaDialect(true), cudaLanguage, {
    name: `${request.stem}.cu`,
    command: `nvcc ${COMPILER_OPTIONS.cuda(request.precision)}`,
    header: "cuda_runtime.h",
  });
