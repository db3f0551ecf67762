import { isSigned } from "../../ir/scalars.js";
import { binary, int, unary } from "../../ir/expressions.js";
import { foldConstantsIn } from "../../ir/constant-folding.js";
import type { Expr } from "../../ir/types.js";
import { walkExpr } from "../../ir/walk.js";

/* Arithmetic on indices, and constants. */

const valueOf = (e: Expr): number | undefined => (e.op === "const" && typeof e.value === "number" ? e.value : undefined);

/** The value of an expression that nothing of the program takes part in. */
export function fortranConstant(e: Expr): number | boolean | undefined {
  const folded = foldConstantsIn(e, []);
  return folded.op === "const" && typeof folded.value !== "bigint" ? folded.value : undefined;
}

const simple = (e: Expr): Expr => {
  const value = fortranConstant(e);
  return typeof value === "number" && isSigned(e.type) ? int(value) : e;
};

/** `x + c` as x and c. */
function split(e: Expr): [Expr | undefined, number] {
  const value = valueOf(e);
  if (value !== undefined) return [undefined, value];
  if (e.op === "binary" && (e.fn === "add" || e.fn === "sub")) {
    const [x, c] = split(e.a);
    const right = valueOf(e.b);
    if (right !== undefined) return [x, e.fn === "add" ? c + right : c - right];
    if (e.fn === "add" && valueOf(e.a) !== undefined) {
      const [y, d] = split(e.b);
      return [y, valueOf(e.a)! + d];
    }
  }
  return [e, 0];
}

const shifted = (x: Expr | undefined, c: number): Expr =>
  !x ? int(c | 0) : c === 0 ? x : c > 0 ? binary("add", x, int(c)) : binary("sub", x, int(-c));

export function plus(a: Expr, b: Expr): Expr {
  const [[x, c], [y, d]] = [split(simple(a)), split(simple(b))];
  return shifted(x && y ? binary("add", x, y) : (x ?? y), c + d);
}

export function minus(a: Expr, b: Expr): Expr {
  const [[x, c], [y, d]] = [split(simple(a)), split(simple(b))];
  if (x && y && sameConstant(x, y)) return int((c - d) | 0);
  return shifted(y ? (x ? binary("sub", x, y) : unary("neg", y)) : x, c - d);
}

export function productExpr(a: Expr, b: Expr): Expr {
  const [c, d] = [a, b].map((e) => valueOf(simple(e)));
  if (c !== undefined && d !== undefined) return int(Math.imul(c, d));
  if (c === 1) return b;
  if (d === 1) return a;
  return c === 0 || d === 0 ? int(0) : binary("mul", a, b);
}

/** Whether two expressions are written alike. */
export function sameConstant(a: Expr, b: Expr): boolean {
  const text = (e: Expr): string => JSON.stringify(e, (key, value: unknown) => (key === "location" ? undefined : value));
  return text(a) === text(b);
}

/** Whether an expression has one value at any point, and costs no more than a few additions. */
export function affordable(e: Expr, changing: ReadonlySet<string>): boolean {
  let nodes = 0;
  let good = true;
  walkExpr(e, (node) => {
    nodes++;
    if (node.op === "local" && changing.has(node.name)) good = false;
    if (["load", "element", "table", "call", "select"].includes(node.op)) good = false;
  });
  return good && (nodes <= 3 || (isSigned(e.type) && nodes <= 9));
}
