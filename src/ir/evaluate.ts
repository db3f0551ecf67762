import { ELEMENTS, isFloat, isInteger, type IntegerType } from "./scalars.js";
import type { BinaryFn, CompareFn, MathFn, NumericType, ScalarType, UnaryFn } from "./types.js";

/*
 * The run-time meaning of the IR's operators on values: numbers that are exactly representable in their type, and booleans.
 */

export type Value = number | boolean;

/** Rounds or wraps the exact result of an operation to a value of its type. */
export function wrap(type: NumericType, x: number): number {
  switch (type) {
    case "f64":
      return x;
    case "f32":
      return Math.fround(x);
    case "i32":
      return x | 0;
    case "u32":
      return x >>> 0;
  }
}

export function unary(fn: UnaryFn, type: ScalarType, a: Value): Value {
  if (fn === "not") return !a;
  const x = a as number;
  const result = type as NumericType;
  switch (fn) {
    case "neg":
      return isFloat(type) ? -x : wrap(result, 0 - x);
    case "bitnot":
      return wrap(result, ~x);
    case "abs":
      return wrap(result, Math.abs(x));
    case "sqrt":
      return wrap(result, Math.sqrt(x));
    case "floor":
      return Math.floor(x);
    case "ceil":
      return Math.ceil(x);
    case "trunc":
      return Math.trunc(x);
    case "clz":
      return Math.clz32(x);
  }
}

/** f32 results are rounded from f64 ones, which is exact for + - * / (Figueroa, "When is double rounding innocuous?", 1995). */
export function binary(fn: BinaryFn, type: NumericType, x: number, y: number): number {
  switch (fn) {
    case "add":
      return wrap(type, x + y);
    case "sub":
      return wrap(type, x - y);
    case "mul":
      return isFloat(type) ? wrap(type, x * y) : wrap(type, Math.imul(x, y));
    case "div":
      return isFloat(type) ? wrap(type, x / y) : y === 0 ? 0 : wrap(type, Math.trunc(x / y));
    case "rem":
      return isFloat(type) ? x % y : y === 0 ? 0 : wrap(type, x % y);
    case "min":
      return Math.min(x, y);
    case "max":
      return Math.max(x, y);
    case "and":
      return wrap(type, x & y);
    case "or":
      return wrap(type, x | y);
    case "xor":
      return wrap(type, x ^ y);
    case "shl":
      return wrap(type, x << y);
    case "shr":
      return type === "u32" ? x >>> y : x >> y;
    case "mulhi":
      return Number((BigInt(x) * BigInt(y)) >> 32n);
  }
}

export function compare(fn: CompareFn, a: Value, b: Value): boolean {
  switch (fn) {
    case "eq":
      return a === b;
    case "ne":
      return a !== b;
    case "lt":
      return a < b;
    case "le":
      return a <= b;
    case "gt":
      return a > b;
    case "ge":
      return a >= b;
  }
}

export function cast(to: ScalarType, from: ScalarType, value: Value): Value {
  if (to === "bool") return typeof value === "boolean" ? value : value !== 0 && value === value;
  const x = Number(value);
  return isFloat(from) && isInteger(to) ? saturate(to, x) : wrap(to, x);
}

function saturate(to: IntegerType, x: number): number {
  const { least, greatest } = ELEMENTS[to];
  // Adding zero turns -0 into the integers' only zero.
  return x !== x ? 0 : Math.min(Math.max(Math.trunc(x), least), greatest) + 0;
}

const FUNCTIONS: Record<MathFn, (...args: number[]) => number> = {
  exp: Math.exp,
  expm1: Math.expm1,
  exp2: (x) => 2 ** x,
  log: Math.log,
  log1p: Math.log1p,
  log2: Math.log2,
  log10: Math.log10,
  pow: Math.pow,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  atan2: Math.atan2,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  cbrt: Math.cbrt,
  hypot: Math.hypot,
};

export const call = (fn: MathFn, type: NumericType, args: readonly number[]): number => wrap(type, FUNCTIONS[fn](...args));
