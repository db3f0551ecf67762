/** What Fortran is ported to as Fortran: one core, all cores with OpenMP, a GPU with OpenMP. */
export const FORTRAN_TARGETS = ["cpu", "openmp", "openmp-target"] as const;
/** What a port is written for: one of `FORTRAN_TARGETS`. */
export type FortranTarget = (typeof FORTRAN_TARGETS)[number];

/** Languages in which its loops are written as kernels, a file or two for each, with a function that launches it. */
export const KERNEL_TARGETS = ["c", "cuda", "hip", "js", "opencl", "sycl", "wgsl"] as const;
export type KernelTarget = (typeof KERNEL_TARGETS)[number];

export type PortTarget = FortranTarget | KernelTarget;
/** All that a port is written for. */
export const PORT_TARGETS: readonly PortTarget[] = [...FORTRAN_TARGETS, ...KERNEL_TARGETS];
export const isKernelTarget = (target: string): target is KernelTarget => (KERNEL_TARGETS as readonly string[]).includes(target);
