import { isDouble, isFloat, isInteger, isSingle, isUnsigned, isWide, isWord, wrap, wrapWide } from "../../ir/scalars.js";
import type { Expr, ScalarType, WideType } from "../../ir/types.js";
import { constantExpr, type ScalarValue } from "./values.js";

/*
 * How operand types are unified. The rules keep what the same text means as plain TypeScript: an integer becomes a float where it meets one,
 * f32 becomes f64, and nothing is narrowed unless the text says so.
 */

/** A value that cannot take a type: what it is, and what to write instead. */
interface TypeMismatch {
  found: string;
  remedy: string;
}

/** `value` as `type`, or why not. */
export function convert(value: ScalarValue, type: ScalarType): Expr | TypeMismatch {
  const { expr, weak } = value;
  const from = expr.type;
  if (from === type) return expr;
  if (isWide(from) || isWide(type)) return convertWide(value, type);
  if (weak && expr.op === "const" && type !== "bool") {
    const number = Number(expr.value);
    if (isFloat(type)) return constantExpr(type, wrap(type, number));
    if (Number.isInteger(number)) {
      const wrapped = wrap(type, number);
      return wrapped === number
        ? constantExpr(type, number + 0)
        : { found: String(number), remedy: `write ${number} ${WORD_CUTS[type]} 0 for its 32 bits` };
    }
  }
  const widens =
    (isDouble(type) && from !== "bool") || (isSingle(type) && (isInteger(from) || weak === "float")) || (weak === "int" && type !== "bool");
  return widens ? { op: "cast", type, a: expr } : { found: from, remedy: remedyFor(from, type) };
}

/** Sums and products of integers in f64, as JavaScript computes them, unless the author has cut them to 32 bits. */
export function asF64(expr: Expr): Expr {
  if (expr.op === "unary" && expr.fn === "neg" && !expr.wraps) return { ...expr, type: "f64", a: asF64(expr.a) };
  if (expr.op === "binary" && !expr.wraps && (expr.fn === "add" || expr.fn === "sub" || expr.fn === "mul"))
    return { ...expr, type: "f64", a: asF64(expr.a), b: asF64(expr.b) };
  if (isDouble(expr.type)) return expr;
  return expr.op === "const" ? constantExpr("f64", Number(expr.value)) : { op: "cast", type: "f64", a: expr };
}

/** The same where one of the types is an integer of 64 bits: bigints and numbers do not mix, and only literals have no type of their own. */
function convertWide({ expr, weak }: ScalarValue, type: ScalarType): Expr | TypeMismatch {
  if (weak !== "wide" || !isWide(type)) return { found: expr.type, remedy: remedyFor(expr.type, type) };
  if (expr.op !== "const") return { op: "cast", type, a: expr };
  const written = expr.value as bigint;
  if (wrapWide(type, written) !== written) return { found: `${written}n`, remedy: `write ${CUTS[type]}${written}n) for its 64 bits` };
  return constantExpr(type, written);
}

/** Beginnings of what cuts a value to the bits of a type. */
const CUTS: Readonly<Record<WideType, string>> = { i64: "BigInt.asIntN(64, ", u64: "BigInt.asUintN(64, " };
/** Operators that cut a number to the 32 bits of a type. */
const WORD_CUTS: Readonly<Record<"i32" | "u32", string>> = { i32: "|", u32: ">>>" };

function remedyFor(from: ScalarType, to: ScalarType): string {
  if (to === "bool") return "compare it with something";
  if (from === "bool") return isWide(to) ? "write condition ? 1n : 0n" : "write condition ? 1 : 0";
  if (isWide(to)) return isWide(from) ? `write ${CUTS[to]}...)` : "write BigInt(...), and 3n for a constant";
  if (isWide(from))
    return isDouble(to)
      ? "write Number(...)"
      : `write ${isSingle(to) ? "Math.fround(Number(...))" : `Number(BigInt.asIntN(32, ...)) ${WORD_CUTS[to]} 0`}`;
  if (isWord(to)) return `write (...) ${WORD_CUTS[to]} 0`;
  return "write Math.fround(...)";
}

export interface Unified {
  type: ScalarType;
  a: Expr;
  b: Expr;
  weak?: ScalarValue["weak"];
}

/** Why two types cannot be unified, and what to write instead. */
interface OperandMismatch {
  problem: string;
  remedy: string;
}

/** The common type of two operands of an arithmetic operator or a comparison. */
export function unify(a: ScalarValue, b: ScalarValue): Unified | OperandMismatch {
  const [s, t] = [a.expr.type, b.expr.type];
  if (s === "bool" || t === "bool") {
    if (s === t) return { type: "bool", a: a.expr, b: b.expr };
    return { problem: `${s} and ${t} cannot be combined`, remedy: "write condition ? 1 : 0 for a number" };
  }
  if (isWide(s) !== isWide(t))
    return { problem: `${s} and ${t} are mixed`, remedy: "convert one: BigInt(...), 3n for a constant, or Number(...)" };
  const type = commonType(a, b);
  if (!type && isWide(s))
    return { problem: "i64 and u64 are mixed", remedy: "convert one: BigInt.asIntN(64, ...) or BigInt.asUintN(64, ...)" };
  if (!type) return { problem: "i32 and u32 are mixed", remedy: "convert one: (...) >>> 0 or (...) | 0" };
  const x = convert(a, type),
    y = convert(b, type);
  for (const side of [x, y]) if ("found" in side) return { problem: `${side.found} does not fit ${type}`, remedy: side.remedy };
  const weak = a.weak && b.weak ? (a.weak === "wide" ? "wide" : a.weak === "float" || b.weak === "float" ? "float" : "int") : undefined;
  return { type, a: x as Expr, b: y as Expr, weak };
}

function commonType(a: ScalarValue, b: ScalarValue): ScalarType | undefined {
  const [s, t] = [a.expr.type, b.expr.type];
  if (isWide(s)) return commonWide(a, b);
  if (a.weak && b.weak) return isFloat(s) || isFloat(t) ? "f64" : isUnsigned(s) || isUnsigned(t) ? "u32" : "i32";
  if (a.weak) return a.weak === "float" && !isFloat(t) ? "f64" : t;
  if (b.weak) return b.weak === "float" && !isFloat(s) ? "f64" : s;
  if (s === t) return s;
  if (isInteger(s) && isInteger(t)) return undefined;
  if (isInteger(s)) return t;
  if (isInteger(t)) return s;
  return "f64";
}

/** The same of two integers of 64 bits: literals take the other one's type. */
function commonWide(a: ScalarValue, b: ScalarValue): ScalarType | undefined {
  const [s, t] = [a.expr.type, b.expr.type];
  if (a.weak !== b.weak) return a.weak ? t : s;
  return s === t ? s : a.weak && "u64";
}

/** A literal's value with the type it has when nothing else decides. */
export function literalExpr(value: number): ScalarValue {
  const integer = Number.isInteger(value) && !Object.is(value, -0);
  if (integer && value >= -0x80000000 && value <= 0x7fffffff) return { kind: "scalar", expr: constantExpr("i32", value), weak: "int" };
  if (integer && value >= 0 && value <= 0xffffffff) return { kind: "scalar", expr: constantExpr("u32", value), weak: "int" };
  return { kind: "scalar", expr: constantExpr("f64", value), weak: "float" };
}

/** The same for `3n`: i64, or u64 above its range. Undefined for what 64 bits do not hold. */
export function wideLiteral(value: bigint): ScalarValue | undefined {
  const type = wrapWide("i64", value) === value ? "i64" : "u64";
  return wrapWide(type, value) === value ? { kind: "scalar", expr: constantExpr(type, value), weak: "wide" } : undefined;
}

/** A parameter that is a constant: f64, bool or of 64 bits. Undefined for a bigint that does not fit. */
export function literalParam(value: number | bigint | boolean): ScalarValue | undefined {
  if (typeof value === "bigint") return wideLiteral(value);
  return { kind: "scalar", expr: constantExpr(typeof value === "number" ? "f64" : "bool", value) };
}
