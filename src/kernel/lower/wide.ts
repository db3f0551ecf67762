import { isWide, wrapWide } from "../../ir/scalars.js";
import type * as acorn from "acorn";
import type { BinaryFn, Expr } from "../../ir/types.js";
import { knownConstant } from "./constant.js";
import type { Lowering } from "./lowering.js";
import { scalarsOf } from "./operands.js";
import { as, prefix, wrapping } from "./operators.js";
import { literalExpr } from "./types.js";
import { constantExpr, type ScalarValue, type Scope } from "./values.js";
import { bigintLiteral } from "./wide-operators.js";

/* Conversions from and to bigints. */

/** `BigInt(x)` of a number. */
function toBigint(cx: Lowering, { expr, weak }: ScalarValue, node: acorn.Node): ScalarValue {
  if (isWide(expr.type)) return { kind: "scalar", expr, weak };
  if (weak && expr.op === "const") {
    const value = Number(expr.value);
    if (!Number.isInteger(value)) return cx.fail(node, `BigInt of ${value}, which is not whole`, "write BigInt(Math.trunc(x))");
    return bigintLiteral(cx, BigInt(value), node);
  }
  if (expr.type === "f32") return toBigint(cx, { kind: "scalar", expr: as("f64", expr) }, node);
  // A u32 fits both types, as a literal may.
  return { kind: "scalar", expr: as("i64", expr), ...(expr.type === "u32" && { weak: "wide" as const }) };
}

/** `Number(x)`: an f64. */
function toNumber(cx: Lowering, value: ScalarValue, node: acorn.Node): ScalarValue {
  const { expr, weak } = value;
  if (!isWide(expr.type)) return prefix(cx, "+", value, node);
  if (weak && expr.op === "const") return literalExpr(Number(expr.value));
  return { kind: "scalar", expr: as("f64", expr) };
}

/** A call of `BigInt` or `Number`. */
export function conversion(cx: Lowering, name: "BigInt" | "Number", node: acorn.CallExpression, scope: Scope): ScalarValue {
  const args = scalarsOf(cx, node.arguments, scope);
  if (args.length !== 1) return cx.fail(node, `${name} takes 1 argument, and is given ${args.length}`);
  return name === "BigInt" ? toBigint(cx, args[0], node) : toNumber(cx, args[0], node);
}

/** True for the names of functions that cut a bigint to some bits. */
export const isCut = (name: string): name is "asIntN" | "asUintN" => name === "asIntN" || name === "asUintN";

/** `BigInt.asIntN(n, x)`, an i64, and `BigInt.asUintN(n, x)`, a u64. What x loses so is meant. */
export function cutTo(cx: Lowering, name: "asIntN" | "asUintN", node: acorn.CallExpression, scope: Scope): ScalarValue {
  const args = scalarsOf(cx, node.arguments, scope);
  if (args.length !== 2) return cx.fail(node, `BigInt.${name} takes 2 arguments, and is given ${args.length}`);
  const bits = knownConstant(cx, args[0].expr);
  if (typeof bits !== "number" || !Number.isInteger(bits) || bits < 1 || bits > 64)
    return cx.fail(node, `BigInt.${name} has a number of bits that is not a constant from 1 to 64`, `write BigInt.${name}(64, x)`);
  const { expr } = args[1];
  if (!isWide(expr.type)) return cx.fail(node, `BigInt.${name} is given ${expr.type}`, `write BigInt.${name}(${bits}, BigInt(x))`);
  const type = name === "asIntN" ? "i64" : "u64";
  if (expr.op === "const") return { kind: "scalar", expr: constantExpr(type, wrapWide(type, BigInt[name](bits, expr.value as bigint))) };
  const whole = as(type, wrapping(cx, expr));
  if (bits === 64) return { kind: "scalar", expr: whole };
  const binary = (fn: BinaryFn, a: Expr, b: bigint): Expr => ({ op: "binary", type, fn, a, b: constantExpr(type, b) });
  if (type === "u64") return { kind: "scalar", expr: binary("and", whole, (1n << BigInt(bits)) - 1n) };
  return { kind: "scalar", expr: binary("shr", binary("shl", whole, BigInt(64 - bits)), BigInt(64 - bits)) };
}
