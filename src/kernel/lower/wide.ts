import { isWide, wrapWide, type WideType } from "../../ir/scalars.js";
import type * as acorn from "acorn";
import type { BinaryFn, Expr } from "../../ir/types.js";
import { knownConstant } from "./constant.js";
import type { Lowering } from "./lowering.js";
import { scalarsOf } from "./operands.js";
import { as, prefix, wrapping } from "./operators.js";
import { literalExpr, wideLiteral } from "./types.js";
import { constantExpr, type ScalarValue, type Scope } from "./values.js";

/* Operators and functions of bigints, which are i64 or u64. */

const OPERATORS: Readonly<Record<string, BinaryFn>> = {
  "+": "add",
  "-": "sub",
  "*": "mul",
  "/": "div",
  "%": "rem",
  "&": "and",
  "|": "or",
  "^": "xor",
  "<<": "shl",
  ">>": "shr",
};

export const eitherIsWide = (a: ScalarValue, b: ScalarValue): boolean => isWide(a.expr.type) || isWide(b.expr.type);

/** A literal such as `3n`. */
export function bigintLiteral(cx: Lowering, value: bigint, node: acorn.Node): ScalarValue {
  return wideLiteral(value) ?? cx.fail(node, `${value}n does not fit 64 bits`, "use a constant from -(2n ** 63n) to 2n ** 64n - 1n");
}

/** `a operator b`, where one of them is a bigint; comparisons aside. */
export function wideOperator(cx: Lowering, operator: string, a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue {
  if (operator === ">>>") return cx.fail(node, "bigints have no >>>", "write BigInt.asUintN(64, x) >> n");
  if (operator === "**") return wholePower(cx, a, b, node);
  const fn = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
  if (!fn) return cx.fail(node, `the operator ${operator} is not part of the kernel language`);
  if (fn === "shl" || fn === "shr") return shift(cx, fn, a, b, node);
  const m = cx.unified(a, b, node);
  const type = m.type as WideType;
  if (m.weak && m.a.op === "const" && m.b.op === "const") return folded(cx, fn, m.a.value as bigint, m.b.value as bigint, node);
  return { kind: "scalar", expr: { op: "binary", type, fn, a: m.a, b: m.b } };
}

/** The exact result of two literals. */
function folded(cx: Lowering, fn: BinaryFn, a: bigint, b: bigint, node: acorn.Node): ScalarValue {
  if ((fn === "div" || fn === "rem") && b === 0n) return cx.fail(node, "a bigint is divided by 0n");
  return bigintLiteral(cx, EXACT[fn as keyof typeof EXACT](a, b), node);
}

const EXACT = {
  add: (a: bigint, b: bigint) => a + b,
  sub: (a: bigint, b: bigint) => a - b,
  mul: (a: bigint, b: bigint) => a * b,
  div: (a: bigint, b: bigint) => a / b,
  rem: (a: bigint, b: bigint) => a % b,
  and: (a: bigint, b: bigint) => a & b,
  or: (a: bigint, b: bigint) => a | b,
  xor: (a: bigint, b: bigint) => a ^ b,
  shl: (a: bigint, b: bigint) => a << b,
  shr: (a: bigint, b: bigint) => a >> b,
};

/** A shift, whose count may have the other type: its low six bits count. */
function shift(cx: Lowering, fn: "shl" | "shr", a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue {
  for (const { expr } of [a, b])
    if (!isWide(expr.type)) return cx.fail(node, `a bigint and ${expr.type} are mixed`, "convert one: BigInt(...), or 3n for a constant");
  const count = b.expr.op === "const" ? (b.expr.value as bigint) : undefined;
  if (count !== undefined && (count < 0n || count > 63n))
    return cx.fail(node, `a bigint is shifted by ${count}n`, "shift by 0n to 63n, as the count is taken modulo 64");
  if (a.weak && a.expr.op === "const" && b.weak && count !== undefined) return folded(cx, fn, a.expr.value as bigint, count, node);
  const type = a.weak && !b.weak ? (b.expr.type as WideType) : (a.expr.type as WideType);
  const value = cx.converted(a, type, node, `a shift of ${type}`);
  return { kind: "scalar", expr: { op: "binary", type, fn, a: value, b: as(type, b.expr) } };
}

/** A power of literals; others are refused. */
function wholePower(cx: Lowering, a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue {
  const [base, exponent] = [a, b].map(({ expr, weak }) => (weak === "wide" && expr.op === "const" ? (expr.value as bigint) : undefined));
  if (base === undefined || exponent === undefined || exponent < 0n || exponent > 64n)
    return cx.fail(node, "** of bigints", "multiply, or write 1n << n for a power of two");
  return bigintLiteral(cx, base ** exponent, node);
}

/** `-x` and `~x`. */
export function widePrefix(cx: Lowering, operator: string, value: ScalarValue, node: acorn.Node): ScalarValue {
  const { expr, weak } = value;
  const type = expr.type as WideType;
  if (operator !== "-" && operator !== "~")
    return cx.fail(node, operator === "+" ? "unary + of a bigint" : `${operator} of a bigint`, "write Number(x) for a number");
  if (weak && expr.op === "const")
    return bigintLiteral(cx, operator === "-" ? -(expr.value as bigint) : ~(expr.value as bigint), node);
  if (operator === "-" && type === "u64") return cx.fail(node, "a u64 is negated", "write BigInt.asUintN(64, 0n - x)");
  return { kind: "scalar", expr: { op: "unary", type, fn: operator === "-" ? "neg" : "bitnot", a: expr } };
}

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
