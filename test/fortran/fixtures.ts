/* Fortran of our own, for tests. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const HEAT_FILE = fileURLToPath(new URL("../../../test/fortran/heat_gpu.F90", import.meta.url));
/** Kernels over threads, loops behind directives, a reduction and a device procedure. */
export const HEAT = readFileSync(HEAT_FILE, "utf8");

/** A subroutine with these lines, in a module. */
export const inModule = (declarations: string, statements: string): string =>
  `module m\ncontains\nsubroutine s(n, a, b)\ninteger :: n, i, j, k\nreal(8) :: a(n,n,n), b(n,n,n)\n${declarations}\n${statements}\nend subroutine s\nend module m\n`;
