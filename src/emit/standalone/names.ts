/** The languages that kernels can be written in as files of their own. */
export const TARGET_NAMES = [
  "c",
  "cuda",
  "hip",
  "js",
  "kokkos",
  "metal",
  "omp-target",
  "openacc",
  "opencl",
  "stdpar",
  "sycl",
  "wat",
  "wgsl",
] as const;

export type TargetName = (typeof TARGET_NAMES)[number];
