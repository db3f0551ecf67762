import { IsoformError } from "isoform";
import { FORTRAN_TARGETS, portSources, type FortranTarget } from "isoform/fortran";

/** A program as Fortran for CPUs, for OpenMP and for GPUs by OpenMP; where it cannot be ported, the reason. */
export const portsOf = (file: string, text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(FORTRAN_TARGETS.map((target) => [`fortran-${target}`, portedTo(target, file, text)]));

function portedTo(target: FortranTarget, file: string, text: string): string {
  try {
    return portSources([{ file, text }], { targets: [target] })[0].text;
  } catch (error) {
    if (error instanceof IsoformError) return error.message;
    throw error;
  }
}
