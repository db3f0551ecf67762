import { BINARY } from "../../ir/operators.js";
import { isDouble, isFloat, isInteger, isUnsigned, isWide, wrap } from "../../ir/scalars.js";
import type * as acorn from "acorn";
import { evaluateCall, evaluateCast } from "../../ir/evaluate.js";
import type { BinaryFn, CompareFn, Expr, NumericType } from "../../ir/types.js";
import { knownConstant } from "./constant.js";
import { mayLackPlus } from "../read/lost-plus.js";
import type { Lowering } from "./lowering.js";
import { asF64, literalExpr } from "./types.js";
import { constantExpr, type ScalarValue } from "./values.js";
import { eitherIsWide, wideOperator, widePrefix } from "./wide-operators.js";

const ARITHMETIC: Record<string, BinaryFn & ("add" | "sub" | "mul" | "div" | "rem")> = {
  "+": "add",
  "-": "sub",
  "*": "mul",
  "/": "div",
  "%": "rem",
};
const COMPARE: Record<string, CompareFn> = {
  "==": "eq",
  "===": "eq",
  "!=": "ne",
  "!==": "ne",
  "<": "lt",
  "<=": "le",
  ">": "gt",
  ">=": "ge",
};
const BITS: Record<string, BinaryFn> = { "&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "shr" };

/** `a operator b`, for binary expressions and compound assignments. */
export function lowerOperator(cx: Lowering, operator: string, left: ScalarValue, right: ScalarValue, node: acorn.Node): ScalarValue {
  const [a, b] = cx.source.minified ? asNumbers(cx, operator, left, right) : [left, right];
  if (Object.hasOwn(COMPARE, operator)) return compare(cx, COMPARE[operator], a, b, node);
  if (eitherIsWide(a, b)) return wideOperator(cx, operator, a, b, node);
  if (Object.hasOwn(BITS, operator)) return bitwise(cx, operator, a, b, node);
  if (operator === ">>>")
    return {
      kind: "scalar",
      expr: { op: "binary", type: "u32", fn: "shr", a: asWord(cx, "u32", a, node), b: asWord(cx, "u32", b, node) },
    };
  if (operator === "**") return power(cx, a, b, node);
  return arithmetic(cx, operator, a, b, node);
}

/** Minifiers write `condition == 1` and `!!condition * x`: a truth value beside a number is one, as JavaScript reckons it. */
function asNumbers(cx: Lowering, operator: string, ...operands: readonly [ScalarValue, ScalarValue]): readonly ScalarValue[] {
  if (operator === "===" || operator === "!==" || operands.every(({ expr }) => expr.type === "bool")) return operands;
  return operands.map((value) => (isTruth(value.expr) ? truthAsNumber(cx, value.expr) : value));
}

/** If JavaScript, too, has `true` or `false` here: `x || y` of numbers is one of them there. Of variables it is not known. */
function isTruth(expr: Expr): boolean {
  if (expr.op === "logical") return isTruth(expr.a) && isTruth(expr.b);
  if (expr.op === "const" || expr.op === "param") return expr.type === "bool";
  return expr.op === "compare" || (expr.op === "unary" && expr.fn === "not");
}

/** Whether it is `x || y` or `x && y` with a number, which JavaScript returns as it is. */
const ofNumbers = (expr: Expr): boolean =>
  expr.op === "logical" && [expr.a, expr.b].some((side) => ofNumbers(side) || (side.op === "cast" && side.a.type !== "bool"));

function compare(cx: Lowering, fn: CompareFn, a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue {
  const m = cx.unified(a, b, node);
  if (m.type === "bool" && fn !== "eq" && fn !== "ne") return cx.fail(node, "truth values are ordered", "compare numbers");
  return { kind: "scalar", expr: { op: "compare", type: "bool", fn, a: m.a, b: m.b } };
}

function arithmetic(cx: Lowering, operator: string, a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue {
  const fn = ARITHMETIC[operator] ?? cx.fail(node, `the operator ${operator} is not part of the kernel language`);
  if (a.weak && b.weak && a.expr.op === "const" && b.expr.op === "const")
    return literalExpr(EXACT[fn](a.expr.value as number, b.expr.value as number));
  const m = cx.unified(a, b, node);
  if (m.type === "bool") return cx.fail(node, `${operator} of truth values`, "write condition ? 1 : 0 for a number");
  if (fn === "div" && isInteger(m.type)) {
    if (!m.weak && mayLackPlus(cx.source, node)) return arithmetic(cx, operator, fraction(a), fraction(b), node);
    if (!m.weak)
      return cx.fail(
        node,
        "integers are divided, which gives a fraction",
        "write (a / b) | 0 for the whole part, or +a / b for the fraction",
      );
    return arithmetic(cx, operator, weakFloat(a), weakFloat(b), node);
  }
  return { kind: "scalar", expr: { op: "binary", type: m.type, fn, a: m.a, b: m.b }, weak: m.weak };
}

/** `a ** b`; of literals, the number. */
function power(cx: Lowering, a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue {
  if (a.weak && b.weak && a.expr.op === "const" && b.expr.op === "const") {
    const [base, exponent] = [a.expr.value as number, b.expr.value as number];
    return literalExpr(wholePower(base, exponent) ?? evaluateCall("pow", "f64", [base, exponent]));
  }
  const m = cx.unified(a, b, node);
  if (!isFloat(m.type)) {
    if (mayLackPlus(cx.source, node)) return power(cx, fraction(a), fraction(b), node);
    return cx.fail(node, "** of integers", "multiply, or convert one operand with unary +");
  }
  return { kind: "scalar", expr: { op: "call", type: m.type as NumericType, fn: "pow", args: [m.a, m.b] }, weak: m.weak };
}

/** An integer to the power of another, where each product is exact; undefined for all else. */
function wholePower(base: number, exponent: number): number | undefined {
  if (!Number.isInteger(base) || !Number.isInteger(exponent) || exponent < 0 || exponent > 64) return undefined;
  let value = 1;
  for (let n = 0; n < exponent; n++) value *= base;
  return Number.isSafeInteger(value) ? value : undefined;
}

const EXACT = {
  add: (a: number, b: number) => a + b,
  sub: (a: number, b: number) => a - b,
  mul: (a: number, b: number) => a * b,
  div: (a: number, b: number) => a / b,
  rem: (a: number, b: number) => a % b,
};

const weakFloat = ({ expr }: ScalarValue): ScalarValue => ({
  kind: "scalar",
  weak: "float",
  expr: expr.op === "const" ? constantExpr("f64", Number(expr.value)) : isDouble(expr.type) ? expr : { op: "cast", type: "f64", a: expr },
});

const fraction = ({ expr }: ScalarValue): ScalarValue => ({ kind: "scalar", expr: asF64(expr) });

function bitwise(cx: Lowering, operator: string, a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue {
  if (a.expr.type === "bool" && b.expr.type === "bool" && operator !== "<<" && operator !== ">>") {
    if (operator === "^") return { kind: "scalar", expr: { op: "compare", type: "bool", fn: "ne", a: a.expr, b: b.expr } };
    return { kind: "scalar", expr: { op: "logical", type: "bool", fn: operator === "&" ? "and" : "or", a: a.expr, b: b.expr } };
  }
  const weak = a.weak && b.weak ? "int" : undefined;
  return {
    kind: "scalar",
    expr: { op: "binary", type: "i32", fn: BITS[operator], a: asWord(cx, "i32", a, node), b: asWord(cx, "i32", b, node) },
    weak,
  };
}

/** An operand of a bit operation: JavaScript works on 32 bits. */
export function asWord(cx: Lowering, type: "i32" | "u32", { expr, weak }: ScalarValue, node: acorn.Node): Expr {
  if (weak && expr.op === "const" && Number.isInteger(expr.value)) return constantExpr(type, wrap(type, expr.value as number));
  if (isWide(expr.type)) return cutOfBigint(cx, node);
  // Accepts floats in minified code: minifiers drop the zero of (...) | 0 before another bit operation.
  if (isFloat(expr.type) && !cx.source.minified) return cx.fail(node, `a bit operation on ${expr.type}`, "convert it first: (...) | 0");
  return cutTo32(cx, type, expr);
}

/** Refuses 32 bits of a bigint, which JavaScript does not mix with numbers. */
export const cutOfBigint = (cx: Lowering, node: acorn.Node): never =>
  cx.fail(node, "a bigint stands where 32 bits of a number do", "write Number(BigInt.asIntN(32, x)) for its low bits");

/** `expr` cut to 32 bits by the author's own words: its overflow is meant, and so is 0 for a division by zero. */
export function cutTo32(cx: Lowering, type: "i32" | "u32", expr: Expr): Expr {
  return as(type, wrapping(cx, lowBits(expr)));
}

/** `Number(BigInt.asIntN(32, x))` loses nothing, so it need not go by way of f64. */
function lowBits(expr: Expr): Expr {
  if (expr.op !== "cast" || !isDouble(expr.type) || !isWide(expr.a.type) || expr.a.op !== "binary" || expr.a.b.op !== "const") return expr;
  const { fn, b } = expr.a;
  const bits = b.value as bigint;
  return (fn === "shr" && bits >= 32n) || (fn === "and" && bits >= 0n && bits < 2n ** 32n) ? expr.a : expr;
}

/** `expr` with the mark that its results are meant to wrap. */
export function wrapping(cx: Lowering, expr: Expr): Expr {
  if (!isInteger(expr.type)) return expr;
  if (expr.op === "cast") return { ...expr, a: wrapping(cx, expr.a) };
  if (expr.op === "unary" && (expr.fn === "neg" || expr.fn === "abs")) return { ...expr, a: wrapping(cx, expr.a), wraps: true };
  if (expr.op === "binary" && BINARY[expr.fn].overflows) return { ...expr, a: wrapping(cx, expr.a), b: wrapping(cx, expr.b), wraps: true };
  if (expr.op === "local") cx.reviseKept(expr.name, (init) => wrapping(cx, init));
  return expr;
}

/** `expr` in another type by the rules of casts. */
export function as(type: NumericType, expr: Expr): Expr {
  if (expr.type === type) return expr;
  return expr.op === "const" ? constantExpr(type, evaluateCast(type, expr.type, expr.value)) : { op: "cast", type, a: expr };
}

/** `-a`, `~a`, and `+a`: f64, or of a truth value `a ? 1 : 0`, which minifiers write so. */
export function prefix(cx: Lowering, operator: string, value: ScalarValue, node: acorn.Node): ScalarValue {
  const { type } = value.expr;
  if (isWide(type)) return widePrefix(cx, operator, value, node);
  if (operator === "+" && type === "bool")
    return ofNumbers(value.expr)
      ? cx.fail(node, "|| and && of numbers give a truth value here", "write x ? x : y for x || y, x ? y : x for x && y")
      : truthAsNumber(cx, value.expr);
  if (operator === "+") return { kind: "scalar", expr: cx.converted(value, "f64", node, "unary + gives f64") };
  if (type === "bool") return cx.fail(node, `${operator} of a truth value`, "write condition ? 1 : 0 for a number");
  if (operator === "~")
    return {
      kind: "scalar",
      expr: { op: "unary", type: "i32", fn: "bitnot", a: asWord(cx, "i32", value, node) },
      weak: value.weak && "int",
    };
  if (operator !== "-") return cx.fail(node, `${operator} is not part of the kernel language`);
  if (value.expr.op === "const" && value.weak) return literalExpr(-(value.expr.value as number));
  if (isUnsigned(type)) return cx.fail(node, "a u32 is negated", "write (0 - x) >>> 0, or (x | 0) first");
  return { ...value, expr: { op: "unary", type, fn: "neg", a: value.expr } };
}

function truthAsNumber(cx: Lowering, cond: Expr): ScalarValue {
  const known = knownConstant(cx, cond);
  if (known !== undefined) return literalExpr(Number(known));
  return { kind: "scalar", expr: { op: "select", type: "i32", cond, a: constantExpr("i32", 1), b: constantExpr("i32", 0) }, weak: "int" };
}

/** The truncated quotient of two integers; undefined if an operand is a float. */
export function wholeQuotient(cx: Lowering, a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue | undefined {
  const m = cx.unified(a, b, node);
  if (!isInteger(m.type) || (a.expr.op === "const" && a.weak && b.expr.op === "const" && b.weak)) return undefined;
  return { kind: "scalar", expr: { op: "binary", type: m.type, fn: "div", a: m.a, b: m.b } };
}
