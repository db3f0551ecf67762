/** The languages that kernels can be written in as files of their own. */
export const TARGET_NAMES = ["c", "cuda", "omp-target", "opencl"] as const;

export type TargetName = (typeof TARGET_NAMES)[number];
