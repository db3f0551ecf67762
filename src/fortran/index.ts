/*
 * Fortran as a front end: loops become kernels for every device, and routines run their host's part here. Text in, no files: for pages, too.
 */

import { compileFiles, type FortranCode } from "./code.js";
import { readFiles, type FortranOptions } from "./read-files.js";

export type { FortranCode, Routine, RoutineRunOptions } from "./code.js";
export { FortranError, problemText, type Problem } from "./errors.js";
export { RunError, type FortranKernel } from "./host/kernels.js";
export { portSources, type PortedFile, type PortOptions, type Source } from "./port/sources.js";
export { settingsOf, type Settings } from "./port/settings.js";
export { FORTRAN_TARGETS, type FortranTarget } from "./port/targets.js";
export { readFortran, type FortranLoop, type FortranText } from "./read.js";
export type { FortranOptions } from "./read-files.js";

/**
 * Reads Fortran: its parallel loops become kernels.
 *
 * @throws FortranError which names all that is wrong, each thing at its place
 */
export const fortran = (text: string, options: FortranOptions = {}): FortranCode => compileFiles(readFiles(text, options), options);
