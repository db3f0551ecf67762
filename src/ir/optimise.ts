import { checkBounds } from "./bounds.js";
import { fold } from "./fold.js";
import { scalarise } from "./scalarise.js";
import { removeDead, removeUnusedTables, sinkDeclarations } from "./tidy.js";
import type { KernelIR } from "./types.js";
import { unroll } from "./unroll.js";

/**
 * Folds constants, unrolls short loops with constant bounds, turns private arrays into locals, and removes what is not used. No bit of
 * any result changes. Throws KernelError for a constant index outside an array or table.
 */
export function optimise(ir: KernelIR): KernelIR {
  const unrolled = unrollAll(fold(ir));
  checkBounds(unrolled);
  return removeUnusedTables(removeDead(fold(sinkDeclarations(scalarise(removeDead(unrolled))))));
}

/** Unrolling an outer loop can make the bounds of inner ones constant. */
function unrollAll(ir: KernelIR): KernelIR {
  const unrolled = unroll(ir);
  return unrolled === ir ? ir : unrollAll(fold(unrolled));
}
