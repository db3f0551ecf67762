import type { ReduceParam } from "../../ir/types.js";
import { emitExpr, HELPERS, helpersIn } from "./expr.js";

/** JavaScript for the fold of a custom reduction, as the body of a function that returns `(a, b) => number`. */
export function emitCombine(combine: NonNullable<ReduceParam["combine"]>): string {
  const refuse = (): never => {
    throw new Error("a fold may use its two arguments only");
  };
  const text = emitExpr(combine.body, {
    local: (name) => (name === combine.a ? "a" : "b"),
    param: refuse,
    index: refuse,
    extent: refuse,
    load: refuse,
    table: refuse,
    element: refuse,
    checked: refuse,
    failed: refuse,
  });
  return [...helpersIn(text, HELPERS), `return (a, b) => ${text};`].join("\n");
}
