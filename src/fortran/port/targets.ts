/** What Fortran is ported to as Fortran: one core, all cores with OpenMP, a GPU with OpenMP. */
export const FORTRAN_TARGETS = ["cpu", "openmp", "openmp-target"] as const;
/** What a port is written for: one of `FORTRAN_TARGETS`. */
export type FortranTarget = (typeof FORTRAN_TARGETS)[number];
