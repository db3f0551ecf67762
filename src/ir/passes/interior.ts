import type { Expr, Stmt } from "../types.js";
import { mapChildren, mapStmts, someExpr } from "../walk.js";

type Select = Extract<Expr, { op: "select" }>;

/** The elements of a loop away from the ends, where what is read depends on nothing but how far they are. */
export interface Interior {
  /** Values of the loop's variable, the last one excluded. */
  readonly begin: number;
  readonly end: number;
  /** The loop's body for these elements. */
  readonly body: readonly Stmt[];
}

/**
 * The interior of a loop with values that are read elsewhere near the ends, as neighbours on periodic grids are: each choice that compares
 * the variable with a constant takes its first side there. Undefined if there is no such choice.
 */
export function interiorOf(body: readonly Stmt[], isVariable: (e: Expr) => boolean): Interior | undefined {
  let [begin, end] = [-Infinity, Infinity];
  const isChoice = (e: Expr): e is Select => e.op === "select" && boundOf(e.cond, isVariable) !== undefined && someExpr(e.a, isLoad);
  const inside = (e: Expr): Expr => {
    if (!isChoice(e)) return mapChildren(e, inside);
    const { fn, bound } = boundOf(e.cond, isVariable)!;
    if (fn === "lt") end = Math.min(end, bound);
    else begin = Math.max(begin, bound);
    return inside(e.a);
  };
  const near = mapStmts(body, { expr: inside });
  return end < Infinity || begin > -Infinity ? { begin, end, body: near } : undefined;
}

const isLoad = (e: Expr): boolean => e.op === "load";

/** The bound in a condition such as `x < 7` or `x >= 1` on the variable. */
function boundOf(cond: Expr, isVariable: (e: Expr) => boolean): { fn: "lt" | "ge"; bound: number } | undefined {
  if (cond.op !== "compare" || (cond.fn !== "lt" && cond.fn !== "ge")) return undefined;
  return isVariable(cond.a) && cond.b.op === "const" ? { fn: cond.fn, bound: cond.b.value as number } : undefined;
}
