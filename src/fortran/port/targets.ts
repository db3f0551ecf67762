/** Targets of a port to Fortran: one core, all cores with OpenMP, a GPU with OpenMP. */
export const FORTRAN_TARGETS = ["cpu", "openmp", "openmp-target"] as const;
/** Target of a port: one of `FORTRAN_TARGETS`. */
export type FortranTarget = (typeof FORTRAN_TARGETS)[number];

/** C++ for GPUs, beside Fortran that launches it. */
export const CPP_TARGETS = ["hip", "cuda"] as const;
export type CppTarget = (typeof CPP_TARGETS)[number];

/** Languages in which its loops are written as kernels, a file or two for each, with a function that launches it. */
export const KERNEL_TARGETS = ["c", "js", "opencl", "sycl", "wgsl"] as const;
export type KernelTarget = (typeof KERNEL_TARGETS)[number];

export type PortTarget = FortranTarget | CppTarget | KernelTarget;
/** All that a port is written for. */
export const PORT_TARGETS: readonly PortTarget[] = [...FORTRAN_TARGETS, ...CPP_TARGETS, ...KERNEL_TARGETS];
