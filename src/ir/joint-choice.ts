import { printExpr } from "./kernel-text.js";
import type { Expr, JointFold } from "./types.js";

/** The condition under which the second value takes the place of the first, of a fold that keeps one of them; undefined for other folds. */
export function choiceOf({ a, b, bodies }: JointFold): Expr | undefined {
  const [first] = bodies;
  if (first?.op !== "select") return undefined;
  const keeps = bodies.every(
    (body, n) =>
      body.op === "select" && isLocal(body.a, b[n]!) && isLocal(body.b, a[n]!) && (body === first || same(body.cond, first.cond)),
  );
  return keeps ? first.cond : undefined;
}

const isLocal = (expr: Expr, name: string): boolean => expr.op === "local" && expr.name === name;
const same = (a: Expr, b: Expr): boolean => a === b || printExpr(a) === printExpr(b);
