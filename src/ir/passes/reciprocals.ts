import { jsonText } from "../../base/json.js";
import { define, localOf } from "../by-name.js";
import { isFloat } from "../scalars.js";
import { literal } from "../simplify.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { assignedLocals, children, mapChildren, mapStmts, someExpr, walkExprs, walkStmts } from "../walk.js";
import { FreshNames } from "./copy.js";

type Binary = Extract<Expr, { op: "binary" }>;

/** Ops of values that are the same for all elements, beside locals that are so. */
const SAME: ReadonlySet<Expr["op"]> = new Set(["const", "param", "extent", "unary", "binary", "cast"]);

/**
 * For fast mode: x / d becomes x * (1 / d) where d is the same for all elements, so that one division serves them all. Rounded twice, the result may
 * differ in its last place; it is infinite or loses places where 1 / d does. Quotients that decide something stay (see `decisive`).
 */
export function divideByReciprocals(ir: KernelIR): KernelIR {
  const names = new FreshNames(ir);
  const assigned = assignedLocals(ir.body);
  const exact = decisive(ir.body);
  const same = new Set<string>();
  const isSame = (e: Expr): boolean => !someExpr(e, (x) => !SAME.has(x.op) && !(x.op === "local" && same.has(x.name)));
  const isQuotient = (e: Expr): e is Binary =>
    e.op === "binary" && e.fn === "div" && isFloat(e.type) && !exact.has(e) && isSame(e.b) && !isSame(e.a);
  const reciprocals = new Map<string, Expr>();
  const body = ir.body.flatMap((stmt): Stmt[] => {
    const before: Stmt[] = [];
    const reciprocalOf = (quotient: Binary): Expr => {
      const key = jsonText(quotient.b, "location");
      if (!reciprocals.has(key)) {
        const name = names.fresh("reciprocal");
        before.push(define(name, { ...quotient, a: literal(quotient.type, 1) }, stmt.location));
        reciprocals.set(key, localOf(name, quotient.type));
      }
      return reciprocals.get(key)!;
    };
    const expr = (e: Expr): Expr => {
      const inner = mapChildren(e, expr);
      return isQuotient(e) ? { ...(inner as Binary), fn: "mul", b: reciprocalOf(e) } : inner;
    };
    const after = mapStmts([stmt], { expr });
    if (stmt.kind === "let" && stmt.init && !assigned.has(stmt.name) && isSame(stmt.init)) same.add(stmt.name);
    return [...before, ...after];
  });
  return reciprocals.size > 0 ? { ...ir, body } : ir;
}

/** True of an expression to which the last place of an operand may matter wholly: 49 * (1 / 49) is below 1. */
const decides = (e: Expr): boolean =>
  e.op === "compare" ||
  (e.op === "cast" && !isFloat(e.type)) ||
  (e.op === "unary" && (e.fn === "floor" || e.fn === "ceil" || e.fn === "trunc")) ||
  (e.op === "binary" && e.fn === "rem");

/**
 * Quotients on which comparisons, remainders or whole numbers depend, also by way of locals: an element's cell, say. Not by way of `round`, which changes
 * at halves alone.
 */
function decisive(body: readonly Stmt[]): ReadonlySet<Expr> {
  const quotients = new Set<Expr>();
  const names = new Set<string>();
  const mark = (e: Expr): void => {
    if (e.op === "unary" && e.fn === "round") return;
    if (e.op === "binary" && e.fn === "div") quotients.add(e);
    if (e.op === "local") names.add(e.name);
    if (e.op === "element") names.add(e.array);
    children(e).forEach(mark);
  };
  walkExprs(body, (e) => void (decides(e) && children(e).forEach(mark)));
  for (let known = -1; known < names.size;) {
    known = names.size;
    walkStmts(body, (stmt) => {
      if (stmt.kind === "let" && stmt.init && names.has(stmt.name)) mark(stmt.init);
      if (stmt.kind === "assign" && names.has(stmt.name)) mark(stmt.value);
      if (stmt.kind === "setElement" && names.has(stmt.array)) mark(stmt.value);
    });
  }
  return quotients;
}
