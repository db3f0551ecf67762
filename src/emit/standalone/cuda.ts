import { cudaLanguage } from "../c/cuda.js";
import { cudaDialect } from "../c/cuda/dialect.js";
import { cudaLikeFile, type CudaLike } from "./cuda-like.js";
import { COMPILER_OPTIONS } from "./options.js";
import type { EmitRequest, EmittedFile } from "./request.js";

/** CUDA C++ for nvcc. */
export const CUDA: CudaLike = {
  prefix: "cuda",
  dialect: cudaDialect(true),
  language: cudaLanguage,
  header: "cuda_runtime.h",
  end: ".cu",
  command: (precision) => `nvcc ${COMPILER_OPTIONS.cuda(precision)}`,
};

export const emitCudaFile = (request: EmitRequest): EmittedFile[] => cudaLikeFile(CUDA, request);
