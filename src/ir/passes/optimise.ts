import { verify } from "#verify";
import { checkBounds } from "../analysis/bounds.js";
import { foldConstants } from "../constant-folding.js";
import { assignDirectly } from "./assign-directly.js";
import { forwardCopies } from "./forward-copies.js";
import { arraysAtRun, arraysInMemory, scalarise } from "./scalarise.js";
import { removeDead, removeOverwritten, removeUnusedTables } from "./tidy.js";
import type { KernelIR } from "../types.js";
import { unroll } from "./unroll.js";

/**
 * Folds constants, unrolls short loops with constant bounds, turns private arrays into locals, and removes unused code and copies. No bit of
 * any result changes. Throws KernelError for a constant index outside an array or table, and IRError where the
 * result is not sound.
 *
 * @param forced finds the counters of loops that are unrolled even where it makes much code
 */
export function optimise(ir: KernelIR, forced?: (ir: KernelIR) => ReadonlySet<string>): KernelIR {
  const folded = foldConstants(ir);
  const whole = unrollAll(folded, forced);
  const inMemory = arraysInMemory(whole);
  const unrolled = arraysAtRun(whole).size === inMemory.size ? whole : unrollAll(folded, forced, inMemory);
  checkBounds(unrolled);
  const scalars = foldConstants(removeOverwritten(scalarise(removeDead(unrolled))));
  const tidied = removeDead(foldConstants(removeOverwritten(scalars)));
  const optimised = removeUnusedTables(assignDirectly(forwardCopies(tidied)));
  verify(optimised);
  return optimised;
}

/** Unrolling an outer loop can make the bounds of inner ones constant. Arrays that must stay in memory are known from the start, which saves large detours. */
function unrollAll(ir: KernelIR, forced?: (ir: KernelIR) => ReadonlySet<string>, inMemory: ReadonlySet<string> = new Set()): KernelIR {
  const unrolled = unroll(ir, forced?.(ir), new Set([...inMemory, ...arraysAtRun(ir)]));
  return unrolled === ir ? ir : unrollAll(foldConstants(unrolled), forced, inMemory);
}
