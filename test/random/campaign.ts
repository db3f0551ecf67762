import fc from "fast-check";
import { Unsound } from "./check.js";
import { KernelPrograms } from "./generate.js";
import type { Program } from "./program.js";

export interface Campaign {
  runs: number;
  seed: number;
  /** Runs one program; throws where bits differ. `n` counts the programs, those of shrinking included. */
  check: (program: Program, n: number) => Promise<void>;
}

/**
 * Runs random kernels until one fails, then shrinks it: the error's message holds its source and how to repeat it. Programs that the front
 * end refuses are an error, too, unless shrinking made them.
 */
export async function campaign({ runs, seed, check }: Campaign): Promise<void> {
  let n = 0;
  let failed = false;
  let refused: Unsound | undefined;
  const property = fc.asyncProperty(new KernelPrograms(), async (program) => {
    try {
      await check(program, n++);
    } catch (error) {
      failed ||= !(error instanceof Unsound);
      if (!(error instanceof Unsound)) throw error;
      if (!failed) refused ??= error;
    }
  });
  const { failed: found, errorInstance, numRuns } = await fc.check(property, { numRuns: runs, seed });
  if (found) throw new Error(`kernel ${numRuns} of seed ${seed}: ${(errorInstance as Error | null)?.message}`, { cause: errorInstance });
  if (refused) throw refused;
}
