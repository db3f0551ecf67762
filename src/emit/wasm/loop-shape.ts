import type { Stmt } from "../../ir/types.js";
import type { Accumulator } from "./reduction.js";
import type { VectorVariable } from "./variance.js";
import type { Width } from "./width.js";

/** How an innermost loop is run. */
export interface LoopShape {
  variable: VectorVariable;
  body: readonly Stmt[];
  width: Width;
  /** Accumulators of the reductions that are folded in the body, by name. */
  accumulators: ReadonlyMap<string, Accumulator>;
  /** Turns may be few: what is left of rounds goes by single vectors. */
  short?: boolean;
  /** Writes all other folds; only in loops of width 1. */
  reduce?: (target: string, value: () => void) => void;
}
