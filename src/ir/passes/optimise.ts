import { verify } from "#verify";
import { checkBounds } from "../analysis/bounds.js";
import { fold } from "../fold.js";
import { arraysInMemory, scalarise } from "./scalarise.js";
import { removeDead, removeOverwritten, removeUnusedTables } from "./tidy.js";
import type { KernelIR } from "../types.js";
import { unroll } from "./unroll.js";

/**
 * Folds constants, unrolls short loops with constant bounds, turns private arrays into locals, and removes unused code. No bit of
 * any result changes. Throws KernelError for a constant index outside an array or table, and IRError where the
 * result is not sound.
 *
 * @param forced finds the counters of loops that are unrolled even where it makes much code
 */
export function optimise(ir: KernelIR, forced?: (ir: KernelIR) => ReadonlySet<string>): KernelIR {
  const folded = fold(ir);
  const whole = unrollAll(folded, forced);
  const inMemory = arraysInMemory(whole);
  const unrolled = inMemory.size === 0 ? whole : unrollAll(folded, forced, inMemory);
  checkBounds(unrolled);
  const scalars = fold(removeOverwritten(scalarise(removeDead(unrolled))));
  const optimised = removeUnusedTables(removeDead(removeOverwritten(scalars)));
  verify(optimised);
  return optimised;
}

/** Unrolling an outer loop can make the bounds of inner ones constant. */
function unrollAll(ir: KernelIR, forced?: (ir: KernelIR) => ReadonlySet<string>, inMemory?: ReadonlySet<string>): KernelIR {
  const unrolled = unroll(ir, forced?.(ir), inMemory);
  return unrolled === ir ? ir : unrollAll(fold(unrolled), forced, inMemory);
}
