import { compileKernel, IsoformError } from "isoform";
import { TARGETS } from "isoform/emit";
import { FORTRAN_TARGETS, portSources, type FortranCode, type FortranTarget } from "isoform/fortran";
import { printKernel } from "isoform/ir";
import type { Forms } from "./messages.js";

/** A program in all forms: its IR, as Fortran, and what is emitted for each target. */
export async function textsOf(code: FortranCode, file: string, source: string): Promise<Forms["texts"]> {
  const IR = [...code.kernels.values()].map((kernel) => printKernel(compileKernel(kernel).ir)).join("\n");
  const texts: Record<string, string> = { IR, ...portsOf(file, source) };
  for (const target of Object.keys(TARGETS) as (keyof typeof TARGETS)[]) {
    const { files, refused } = await code.emit(target);
    const parts = files.map(({ name, text }) => (files.length > 1 ? `==== ${name} ====\n${text}` : text));
    texts[target] = [...parts, ...refused.map(({ kernel, why }) => `${kernel}: ${why}`)].join("\n");
  }
  return texts;
}

/** A program as Fortran for CPUs, for OpenMP and for GPUs by OpenMP; where it cannot be ported, the reason. */
const portsOf = (file: string, text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(FORTRAN_TARGETS.map((target) => [`fortran-${target}`, portedTo(target, file, text)]));

function portedTo(target: FortranTarget, file: string, text: string): string {
  try {
    return portSources([{ file, text }], { targets: [target] })[0].text;
  } catch (error) {
    if (error instanceof IsoformError) return error.message;
    throw error;
  }
}
