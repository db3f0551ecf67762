import { unreachable } from "../../base/unreachable.js";
import { add, binary, call, cast, compare, constant, div, eq, gt, lt, mul, neg, select, sub, unary } from "../expressions.js";
import { isFloat } from "../scalars.js";
import { isFloatBinary, isFloatUnary, type FloatBinaryFn, type FloatUnaryFn, type MathFn } from "../operators.js";
import type { Expr } from "../types.js";

/*
 * Derivatives, an entry for each operator of floats: a new operator does not compile without one.
 */

/** An operation on values that have been computed already. */
export type FloatOperation = Extract<Expr, { op: "unary" | "binary" | "call" | "cast" }>;

/** Multiplies by a partial derivative: makes of what reaches the result that which reaches the operand, and of the operand's tangent its share. */
type Times = (g: Expr) => Expr;
/** Partial derivatives by operand; undefined where one is zero everywhere. */
type Partials = readonly (Times | undefined)[];

/** Constants of the type of an expression. */
const of = (like: Expr, value: number): Expr => constant(like.type, value);
const square = (x: Expr): Expr => mul(x, x);
const zeroUnless = (cond: Expr, value: Expr): Expr => select(cond, value, of(value, 0));

/** Result of operators that are flat between jumps. */
const NONE = (): undefined => undefined;

const UNARY_RULES: Record<FloatUnaryFn, (a: Expr, result: Expr) => Times | undefined> = {
  neg: () => (g) => neg(g),
  abs: (a) => (g) => select(gt(a, 0), g, zeroUnless(lt(a, 0), neg(g))),
  sqrt: (_, result) => (g) => div(mul(g, 0.5), result),
  floor: NONE,
  ceil: NONE,
  trunc: NONE,
  round: NONE,
};

const BINARY_RULES: Record<FloatBinaryFn, (a: Expr, b: Expr, result: Expr) => Partials> = {
  add: () => [(g) => g, (g) => g],
  sub: () => [(g) => g, (g) => neg(g)],
  mul: (a, b) => [(g) => mul(g, b), (g) => mul(g, a)],
  div: (_, b, result) => [(g) => div(g, b), (g) => neg(mul(div(g, b), result))],
  // The quotient of the operation itself: a / b may round up to the next whole number.
  rem: (a, b, result) => [(g) => g, (g) => neg(mul(g, unary("round", div(sub(a, result), b))))],
  min: (a, b) => [(g) => zeroUnless(lt(a, b), g), (g) => select(lt(a, b), of(g, 0), g)],
  max: (a, b) => [(g) => zeroUnless(gt(a, b), g), (g) => select(gt(a, b), of(g, 0), g)],
  copysign: (a, b) => [(g) => mul(g, mul(binary("copysign", of(a, 1), a), binary("copysign", of(a, 1), b))), undefined],
};

/** g * n * power, where n is not 0. */
const powerRule = (g: Expr, n: Expr, isZero: Expr, power: Expr): Expr => select(isZero, of(g, 0), mul(g, mul(n, power)));
const overLength =
  (x: Expr, length: Expr): Times =>
  (g) =>
    select(eq(length, 0), of(g, 0), mul(g, div(x, length)));

/** A side over the square of the length of both, in steps that do not overflow. */
const acrossLength =
  (x: Expr, a: Expr, b: Expr): Times =>
  (g) => {
    const length = call("hypot", a, b);
    return div(mul(g, div(x, length)), length);
  };

const MATH_RULES: Record<MathFn, (a: Expr, b: Expr, result: Expr) => Partials> = {
  exp: (_, __, result) => [(g) => mul(g, result)],
  expm1: (_, __, result) => [(g) => mul(g, add(result, 1))],
  exp2: (_, __, result) => [(g) => mul(g, mul(result, Math.LN2))],
  log: (a) => [(g) => div(g, a)],
  log1p: (a) => [(g) => div(g, add(a, 1))],
  log2: (a) => [(g) => div(g, mul(a, Math.LN2))],
  log10: (a) => [(g) => div(g, mul(a, Math.LN10))],
  pow: (a, b, result) => [
    (g) => powerRule(g, b, eq(b, 0), call("pow", a, sub(b, 1))),
    (g) => zeroUnless(gt(a, 0), mul(g, mul(result, call("log", a)))),
  ],
  powi: (a, b) => [(g) => powerRule(g, cast(a.type, b), eq(b, 0), call("powi", a, sub(b, 1))), undefined],
  sin: (a) => [(g) => mul(g, call("cos", a))],
  cos: (a) => [(g) => neg(mul(g, call("sin", a)))],
  tan: (_, __, result) => [(g) => mul(g, add(square(result), 1))],
  asin: (a) => [(g) => div(g, unary("sqrt", sub(of(a, 1), square(a))))],
  acos: (a) => [(g) => neg(div(g, unary("sqrt", sub(of(a, 1), square(a)))))],
  atan: (a) => [(g) => div(g, add(square(a), 1))],
  atan2: (a, b) => [acrossLength(b, a, b), (g) => neg(acrossLength(a, a, b)(g))],
  sinh: (a) => [(g) => mul(g, call("cosh", a))],
  cosh: (a) => [(g) => mul(g, call("sinh", a))],
  tanh: (_, __, result) => [(g) => mul(g, sub(of(g, 1), square(result)))],
  cbrt: (_, __, result) => [(g) => div(g, mul(square(result), 3))],
  hypot: (a, b, result) => [overLength(a, result), overLength(b, result)],
};

/** Partial derivatives of an operation on floats by its operands, which are `args`; `result` is its value. */
export function partialDerivatives(node: FloatOperation, args: readonly Expr[], result: Expr): Partials {
  const [a, b] = args as readonly [Expr, Expr];
  switch (node.op) {
    case "cast":
      return [isFloat(a.type) ? (g) => cast(g.type === a.type ? result.type : a.type, g) : undefined];
    case "unary":
      return isFloatUnary(node.fn) ? [UNARY_RULES[node.fn](a, result)] : [];
    case "binary":
      return isFloatBinary(node.fn) ? BINARY_RULES[node.fn](a, b, result) : [];
    case "call":
      return MATH_RULES[node.fn](a, b, result);
    default:
      return unreachable(node);
  }
}

/** Whether an operation has no derivative other than zero, so that its result is a constant to gradients. */
export function isFlat(node: FloatOperation): boolean {
  const operand = node.op === "call" ? node.args[0]! : node.a;
  const b = node.op === "binary" ? node.b : operand;
  return (
    isFloat(node.type) && isFloat(operand.type) && partialDerivatives(node, [operand, b], operand).every((partial) => partial === undefined)
  );
}

/** Contribution of one of the extremes' elements: its share of what reaches the result, where it equals it. */
export const extremeShare = (value: Expr, result: Expr, ties: Expr, g: Expr): Expr =>
  zeroUnless(compare("eq", value, result), div(g, ties));
