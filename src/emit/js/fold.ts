import type { Expr, JointFold, ReduceParam } from "../../ir/types.js";
import { emitExpr, HELPERS, helpersIn, type ExprScope } from "./expr.js";

/** JavaScript for the fold of a custom reduction, as the body of a function that returns `(a, b) => number`. */
export function emitCombine({ a, body }: NonNullable<ReduceParam["combine"]>): string {
  return foldText(body, ["a", "b"], (name) => (name === a ? "a" : "b"));
}

/** The same for a part of a joint reduction, as a function of the parts of two values, `(a0, a1, b0, b1) => number`. */
export function emitJoint({ a, b, bodies }: JointFold, part: number): string {
  const [first, second] = [a.map((_, n) => `a${n}`), b.map((_, n) => `b${n}`)];
  const text = jointText({ a, b, bodies, parts: [] }, bodies[part], first, second);
  return [...helpersIn(text, HELPERS), `return (${[...first, ...second].join(", ")}) => ${text};`].join("\n");
}

/** JavaScript for an expression of a joint fold, over texts of the parts of two values. */
export function jointText({ a, b }: JointFold, body: Expr, first: readonly string[], second: readonly string[]): string {
  return emitExpr(
    body,
    overLocals((name) => (a.includes(name) ? first[a.indexOf(name)] : second[b.indexOf(name)])),
  );
}

function foldText(body: Expr, parameters: readonly string[], local: (name: string) => string): string {
  const text = emitExpr(body, overLocals(local));
  return [...helpersIn(text, HELPERS), `return (${parameters.join(", ")}) => ${text};`].join("\n");
}

/** Folds have locals alone. */
function overLocals(local: (name: string) => string): ExprScope {
  const refuse = (): never => {
    throw new Error("a fold may use its two arguments only");
  };
  return {
    local,
    param: refuse,
    index: refuse,
    extent: refuse,
    load: refuse,
    table: refuse,
    element: refuse,
    checked: refuse,
    failed: refuse,
  };
}
