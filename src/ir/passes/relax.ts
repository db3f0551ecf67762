import { foldConstants } from "../constant-folding.js";
import { isFloat } from "../scalars.js";
import { literal } from "../simplify.js";
import { removeDead } from "./tidy.js";
import type { Expr, KernelIR } from "../types.js";
import { mapExpr, mapKernel, mapStmts } from "../walk.js";

/**
 * The kernel for fast mode: terms of zero are gone, as in the sum over a table of directions, 0 * x + y. The result differs only where
 * a value is infinite or NaN, and in the sign of zeros.
 */
export function relax(ir: KernelIR): KernelIR {
  const expr = (root: Expr) => mapExpr(root, withoutZeros);
  const relaxed = mapKernel(ir, (body) => mapStmts(body, { expr }), expr);
  return removeDead(foldConstants(relaxed));
}

function withoutZeros(expr: Expr): Expr {
  if (expr.op !== "binary" || !isFloat(expr.type)) return expr;
  const { fn, type, a, b } = expr;
  const zero = (side: Expr) => side.op === "const" && side.value === 0;
  if (fn === "mul" && (zero(a) || zero(b))) return literal(type, 0);
  if ((fn === "add" || fn === "sub") && zero(b)) return a;
  if (fn === "add" && zero(a)) return b;
  return fn === "sub" && zero(a) ? { op: "unary", type, fn: "neg", a: b } : expr;
}
