import { isWide, wrapWide, type WideType } from "../../ir/scalars.js";
import type * as acorn from "acorn";
import type { BinaryFn, Expr } from "../../ir/types.js";
import type { Lowering } from "./lowering.js";
import { wideLiteral } from "./types.js";
import { constantExpr, type ScalarValue } from "./values.js";

/* Operators of bigints, which are i64 or u64. */

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
  return { kind: "scalar", expr: { op: "binary", type, fn, a: value, b: counted(type, b.expr) } };
}

/** A count in the type of what is shifted. */
const counted = (type: WideType, count: Expr): Expr => {
  if (count.type === type) return count;
  return count.op === "const" ? constantExpr(type, wrapWide(type, count.value as bigint)) : { op: "cast", type, a: count };
};

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
  if (weak && expr.op === "const") return bigintLiteral(cx, operator === "-" ? -(expr.value as bigint) : ~(expr.value as bigint), node);
  if (operator === "-" && type === "u64") return cx.fail(node, "a u64 is negated", "write BigInt.asUintN(64, 0n - x)");
  return { kind: "scalar", expr: { op: "unary", type, fn: operator === "-" ? "neg" : "bitnot", a: expr } };
}
