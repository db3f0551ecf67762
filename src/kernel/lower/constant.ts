import { foldConstantsIn } from "../../ir/constant-folding.js";
import type { Expr } from "../../ir/types.js";
import type { Lowering } from "./lowering.js";

/** The value of an expression that is constant already while lowering; tables are looked up. */
export function knownConstant(cx: Lowering, expr: Expr): number | boolean | undefined {
  const folded = foldConstantsIn(expr, cx.tables);
  return folded.op === "const" ? folded.value : undefined;
}
