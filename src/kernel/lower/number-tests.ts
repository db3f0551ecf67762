import type * as acorn from "acorn";
import { isFloat } from "../../ir/scalars.js";
import type { CompareFn, Expr } from "../../ir/types.js";
import type { Lowering } from "./lowering.js";
import { constantExpr, type ScalarValue } from "./values.js";

/* `Number.isNaN`, `Number.isFinite` and `Number.isInteger`. */

type NumberTest = "isNaN" | "isFinite" | "isInteger";
export const isNumberTest = (name: string): name is NumberTest => name === "isNaN" || name === "isFinite" || name === "isInteger";

/** Whether a number is NaN, finite or whole. */
export function numberTest(cx: Lowering, name: NumberTest, args: readonly ScalarValue[], node: acorn.Node): ScalarValue {
  const truth = (expr: Expr): ScalarValue => ({ kind: "scalar", expr });
  if (args.length !== 1) return cx.fail(node, `Number.${name} takes 1 argument, and is given ${args.length}`);
  const { type } = args[0].expr;
  if (type === "bool") return cx.fail(node, `Number.${name} of a truth value`, "give it a number");
  if (!isFloat(type)) return truth(constantExpr("bool", name !== "isNaN"));
  const x = cx.materialiseScalar(args[0], node).expr;
  const compare = (fn: CompareFn, a: Expr, b: Expr): Expr => ({ op: "compare", type: "bool", fn, a, b });
  if (name === "isNaN") return truth(compare("ne", x, x));
  const finite = compare("lt", { op: "unary", type, fn: "abs", a: x }, constantExpr(type, Infinity));
  if (name === "isFinite") return truth(finite);
  const whole = compare("eq", { op: "unary", type, fn: "trunc", a: x }, x);
  return truth({ op: "logical", type: "bool", fn: "and", a: finite, b: whole });
}
