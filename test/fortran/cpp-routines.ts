/* Random routines as ports to HIP: their loops in C++ run on the CPU, beside the Fortran that launches them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FortranError } from "../../src/fortran/index.js";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import type { PortedFile } from "../../src/fortran/port/sources.js";
import { forShim, HIP_SHIM } from "./hip-shim.js";
import { byGfortran, onlyRoutines, type Outcome, type Routines } from "./whole-routines.js";

const ported = (text: string): PortedFile[] => portCppSources([{ file: "routines.F90", text }], { targets: ["hip"] });

function isAccepted(routines: Routines, name: string): boolean {
  try {
    ported(onlyRoutines(routines, [name]).text);
    return true;
  } catch (error) {
    if (error instanceof FortranError) return false;
    throw error;
  }
}

/** The routines that can be ported, and what they leave. Kernels run late, when the host waits for them, `backwards` with their last thread first. */
export function byHip(all: Routines, backwards: boolean): { readonly routines: Routines; readonly found: readonly Outcome[] } {
  const routines = onlyRoutines(
    all,
    all.names.filter((name) => isAccepted(all, name)),
  );
  if (routines.names.length === 0) return { routines, found: [] };
  const env = { SHIM_LATE: "1", ...(backwards && { SHIM_BACKWARDS: "1" }) };
  return { routines, found: withHip(routines.text, (text, words) => byGfortran(routines, { text, words, env })) };
}

/** Ports a file to HIP, and compiles its loops for the CPU. `use` is given the Fortran that is left, and words that link it with the loops. */
export function withHip<T>(source: string, use: (text: string, words: readonly string[]) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "isoform-hip-"));
  try {
    const files = ported(source);
    for (const { name, text } of files) writeFileSync(join(folder, name), forShim(text));
    mkdirSync(join(folder, "hip"));
    writeFileSync(join(folder, "hip/hip_runtime.h"), HIP_SHIM);
    const flags = ["-std=c++17", "-O0", "-ffp-contract=off", "-fwrapv", "-I.", "-c", "routines_kernels.hip.cpp", "-o", "kernels.o"];
    execFileSync("g++", flags, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    return use(files[0].text, [join(folder, "kernels.o"), "-lstdc++", "-cpp"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
