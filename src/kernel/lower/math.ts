import { notPart, RANDOM } from "../read/refused-syntax.js";
import { own } from "../../base/own.js";
import { evaluateCall } from "../../ir/evaluate.js";
import { MATH } from "../../ir/operators.js";
import { isFloat, isInteger, isSigned, isUnsigned, isWide } from "../../ir/scalars.js";
import type * as acorn from "acorn";
import type { BinaryFn, CompareFn, Expr, MathFn, NumericType, UnaryFn } from "../../ir/types.js";
import type { Lowering } from "./lowering.js";
import { isNumberTest, numberTest } from "./number-tests.js";
import { as, lowerOperator, wholeQuotient, asWord } from "./operators.js";
import { literalExpr } from "./types.js";
import { Scope, constantExpr, type ScalarValue } from "./values.js";
import { scalarsOf } from "./operands.js";
import { eitherIsWide } from "./wide-operators.js";

const EXACT: Record<string, UnaryFn & keyof Math> = {
  sqrt: "sqrt",
  abs: "abs",
  floor: "floor",
  ceil: "ceil",
  trunc: "trunc",
  round: "round",
};
const isExact = (name: string): boolean => Object.hasOwn(EXACT, name);
/** Functions of Math that are not exact. */
const isInexact = (name: string): name is MathFn & keyof Math => Object.hasOwn(MATH, name) && Object.hasOwn(Math, name);

/** A call of a function of Math, or of Isoform's own. */
export function mathCall(cx: Lowering, qualified: string, node: acorn.CallExpression, scope: Scope): ScalarValue {
  const name = qualified.replace("Math.", "");
  const [first] = node.arguments;
  if (
    (name === "floor" || name === "trunc") &&
    node.arguments.length === 1 &&
    first.type === "BinaryExpression" &&
    first.operator === "/"
  ) {
    const [a, b] = scalarsOf(cx, [first.left, first.right], scope);
    if (eitherIsWide(a, b)) return ofBigint(cx, qualified, node);
    return (
      (isFloat(cx.unified(a, b, first).type) ? undefined : wholeOf(cx, name, a, b, first)) ??
      exact(cx, name, lowerOperator(cx, "/", a, b, first), node)
    );
  }
  const args = scalarsOf(cx, node.arguments, scope);
  if (args.some(({ expr }) => isWide(expr.type))) return ofBigint(cx, qualified, node);
  const test = qualified.replace("Number.", "");
  if (test !== qualified && isNumberTest(test)) return numberTest(cx, test, args, node);
  if (name === "hypot") return hypotenuse(cx, args, node);
  const arity = isExact(name) ? 1 : isInexact(name) ? MATH[name].arguments : own(ARITY, name);
  if (arity === undefined && name !== "min" && name !== "max")
    return cx.fail(node, ...(name === "random" ? RANDOM : notPart(qualified, "see docs/language.md for the functions that are")));
  if (arity !== undefined ? args.length !== arity : args.length === 0)
    return cx.fail(node, `${qualified} takes ${arity ?? "some"} argument${arity === 1 ? "" : "s"} here, and is given ${args.length}`);

  if (isExact(name)) return exact(cx, name, args[0], node);
  if (isInexact(name)) return inexact(cx, name, args, node);
  switch (name) {
    case "mulhi":
      return { kind: "scalar", expr: product(cx, "u32", "mulhi", args, node) };
    case "powi":
      return whole(cx, args[0], args[1], node);
    case "copysign": {
      const { a, b, type, weak } = cx.unified(real(cx, args[0], node), real(cx, args[1], node), node);
      return { kind: "scalar", expr: { op: "binary", type, fn: "copysign", a, b }, weak };
    }
    case "imul":
      return { kind: "scalar", expr: { ...product(cx, "i32", "mul", args, node), wraps: true } };
    case "clz32":
      return { kind: "scalar", expr: { op: "unary", type: "i32", fn: "clz", a: asWord(cx, "u32", args[0], node) } };
    case "fround":
      return { kind: "scalar", expr: as("f32", args[0].expr) };
    case "sign":
      return sign(cx, args[0], node);
    // Any other name is min or max.
    default:
      return args.reduce((a, b) => extremum(cx, name as "min" | "max", a, b, node));
  }
}

/** A product of two words of 32 bits: the low word, or for `mulhi` the high one. */
const product = (cx: Lowering, type: "i32" | "u32", fn: "mul" | "mulhi", [a, b]: readonly ScalarValue[], node: acorn.Node) =>
  ({ op: "binary", type, fn, a: asWord(cx, type, a, node), b: asWord(cx, type, b, node) }) as const;

const ofBigint = (cx: Lowering, name: string, node: acorn.Node): never =>
  cx.fail(node, `${name} of a bigint`, "it takes numbers: write Number(x), or a choice such as x < 0n ? -x : x");

const ARITY: Record<string, number> = { mulhi: 2, powi: 2, copysign: 2, imul: 2, clz32: 1, fround: 1, sign: 1 };

/** Math.floor(a / b) and Math.trunc(a / b) of integers are integers, and 0 where b is. */
function wholeOf(cx: Lowering, name: "floor" | "trunc", a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue | undefined {
  const whole = wholeQuotient(cx, a, b, node);
  if (!whole || name === "trunc" || whole.expr.op !== "binary" || isUnsigned(whole.expr.type)) return whole;
  const integer = (fn: BinaryFn, x: Expr, y: Expr): Expr => ({ op: "binary", type: "i32", fn, a: x, b: y });
  const compare = (fn: CompareFn, x: Expr, y: Expr): Expr => ({ op: "compare", type: "bool", fn, a: x, b: y });
  const [x, y] = [whole.expr.a, whole.expr.b].map((e) => cx.materialiseScalar({ kind: "scalar", expr: e }, node).expr);
  const zero = constantExpr("i32", 0);
  const below: Expr = {
    op: "logical",
    type: "bool",
    fn: "and",
    a: compare("ne", { op: "binary", type: "i32", fn: "rem", a: x, b: y, wraps: true }, zero),
    b: compare("lt", integer("xor", x, y), zero),
  };
  return { kind: "scalar", expr: integer("sub", integer("div", x, y), as("i32", below)) };
}

function exact(cx: Lowering, name: string, value: ScalarValue, node: acorn.Node): ScalarValue {
  const fn = EXACT[name];
  const { expr, weak } = value;
  if (weak && expr.op === "const") return literalExpr(Math[fn](expr.value as number));
  if (isInteger(expr.type) && fn !== "sqrt")
    return fn === "abs" && isSigned(expr.type) ? { ...value, expr: { op: "unary", type: expr.type, fn, a: expr } } : value;
  const a = real(cx, value, node);
  return { ...a, expr: { op: "unary", type: a.expr.type, fn, a: a.expr } };
}

function inexact(cx: Lowering, fn: MathFn, args: ScalarValue[], node: acorn.Node): ScalarValue {
  const reals = args.map((a) => real(cx, a, node));
  const constants = reals.flatMap(({ expr, weak }) => (weak && expr.op === "const" ? [expr.value as number] : []));
  if (constants.length === reals.length)
    return {
      kind: "scalar",
      expr: constantExpr("f64", evaluateCall(fn, "f64", constants)),
      weak: "float",
    };
  const [first, second] = reals;
  const operands = second ? cx.unified(first, second, node) : undefined;
  const list = operands ? [operands.a, operands.b] : [first.expr];
  return { kind: "scalar", expr: { op: "call", type: list[0].type as NumericType, fn, args: list } };
}

/** `Math.hypot` of any number of arguments: of three and more, one after the other. */
function hypotenuse(cx: Lowering, args: readonly ScalarValue[], node: acorn.Node): ScalarValue {
  if (args.length === 0) return literalExpr(0);
  if (args.length === 1) return exact(cx, "abs", real(cx, args[0], node), node);
  return args.reduce((a, b) => inexact(cx, "hypot", [a, b], node));
}

/** A power with an exponent of i32. */
function whole(cx: Lowering, base: ScalarValue, exponent: ScalarValue, node: acorn.Node): ScalarValue {
  const { expr: x, weak } = real(cx, base, node);
  const n = cx.converted(exponent, "i32", node, "the exponent of powi is i32");
  const known = weak && x.op === "const" && n.op === "const";
  const expr: Expr = { op: "call", type: x.type as NumericType, fn: "powi", args: [x, n] };
  return known
    ? { kind: "scalar", expr: constantExpr("f64", evaluateCall("powi", "f64", [x.value as number, n.value as number])), weak: "float" }
    : { kind: "scalar", expr };
}

function real(cx: Lowering, value: ScalarValue, node: acorn.Node): ScalarValue {
  if (isFloat(value.expr.type)) return value;
  return { kind: "scalar", expr: cx.converted(value, "f64", node, "the function takes a float"), weak: value.weak && "float" };
}

function extremum(cx: Lowering, fn: BinaryFn & ("min" | "max"), a: ScalarValue, b: ScalarValue, node: acorn.Node): ScalarValue {
  const m = cx.unified(a, b, node);
  if (m.type === "bool") return cx.fail(node, `Math.${fn} of truth values`);
  return { kind: "scalar", expr: { op: "binary", type: m.type, fn, a: m.a, b: m.b }, weak: m.weak };
}

function sign(cx: Lowering, value: ScalarValue, node: acorn.Node): ScalarValue {
  const x = cx.materialiseScalar(value, node).expr;
  const { type } = x;
  const compare = (fn: "gt" | "lt"): Expr => ({ op: "compare", type: "bool", fn, a: x, b: constantExpr(type, 0) });
  const negative: Expr = isUnsigned(type) ? x : { op: "select", type, cond: compare("lt"), a: constantExpr(type, -1), b: x };
  return { kind: "scalar", expr: { op: "select", type, cond: compare("gt"), a: constantExpr(type, 1), b: negative }, weak: value.weak };
}
