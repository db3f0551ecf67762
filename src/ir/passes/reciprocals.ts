import { define, localOf } from "../by-name.js";
import { isFloat } from "../scalars.js";
import { literal } from "../simplify.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { assignedLocals, mapExpr, mapStmts, someExpr } from "../walk.js";
import { Names } from "./copy.js";

/** Ops of values that are the same for all elements, beside locals that are so. */
const SAME: ReadonlySet<Expr["op"]> = new Set(["const", "param", "extent", "unary", "binary", "cast"]);

/**
 * For fast mode: x / d becomes x * (1 / d) where d is the same for all elements, so that one division serves them all. Rounded twice, the result may
 * differ in its last place; it is infinite or loses places where 1 / d does.
 */
export function divideByReciprocals(ir: KernelIR): KernelIR {
  const names = new Names(ir);
  const assigned = assignedLocals(ir.body);
  const same = new Set<string>();
  const isSame = (e: Expr): boolean => !someExpr(e, (x) => !SAME.has(x.op) && !(x.op === "local" && same.has(x.name)));
  const reciprocals = new Map<string, Expr>();
  const body = ir.body.flatMap((stmt): Stmt[] => {
    const before: Stmt[] = [];
    const quotient = (e: Expr): Expr => {
      if (e.op !== "binary" || e.fn !== "div" || !isFloat(e.type) || !isSame(e.b) || isSame(e.a)) return e;
      const key = JSON.stringify(e.b, (name, part: unknown) => (name === "location" ? undefined : part));
      if (!reciprocals.has(key)) {
        const name = names.fresh("reciprocal");
        before.push(define(name, { ...e, a: literal(e.type, 1) }, stmt.location));
        reciprocals.set(key, localOf(name, e.type));
      }
      return { ...e, fn: "mul", b: reciprocals.get(key)! };
    };
    const [after] = [mapStmts([stmt], { expr: (root) => mapExpr(root, quotient) })];
    if (stmt.kind === "let" && stmt.init && !assigned.has(stmt.name) && isSame(stmt.init)) same.add(stmt.name);
    return [...before, ...after];
  });
  return reciprocals.size > 0 ? { ...ir, body } : ir;
}
