import { foldConstantsIn } from "../../ir/constant-folding.js";
import type { Expr, PlainValue } from "../../ir/types.js";
import type { Lowering } from "./lowering.js";

/** The value of an expression that is constant already while lowering; tables are looked up. */
export function knownConstant(cx: Lowering, expr: Expr): PlainValue | undefined {
  const folded = foldConstantsIn(expr, cx.tables);
  return folded.op === "const" ? folded.value : undefined;
}
