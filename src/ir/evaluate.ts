import { BINARY, COMPARE, MATH, UNARY, type BinaryFn, type CompareFn, type MathFn, type UnaryFn, type PlainValue } from "./operators.js";
import { exactPowi } from "./exact.js";
import { ELEMENTS, isFloat, isInteger, isWide, wrap, wrapWide, type NumberType, type NumericType, type ScalarType } from "./scalars.js";
import type { WideType, IntegerType } from "./scalars.js";
import { evaluateWideBinary, evaluateWideUnary } from "./wide.js";

/*
 * The run-time meaning of expressions on values: numbers that are exactly representable in their type, and booleans. The operators' meaning
 * is in their table.
 */

export type { PlainValue };
export { isFloat, wrap };

export const evaluateUnary = (fn: UnaryFn, type: ScalarType, a: PlainValue): PlainValue =>
  isWide(type) ? evaluateWideUnary(fn, type, a as bigint) : UNARY[fn].of(a as number | boolean, type as NumberType);

export function evaluateBinary<V extends number | bigint>(fn: BinaryFn, type: NumericType, x: V, y: V): V {
  return (isWide(type) ? evaluateWideBinary(fn, type, x as bigint, y as bigint) : BINARY[fn].of(x as number, y as number, type)) as V;
}

export const evaluateComparison = (fn: CompareFn, a: PlainValue, b: PlainValue): boolean => COMPARE[fn].of(a, b);

export function evaluateCall(fn: MathFn, type: NumericType, args: readonly number[]): number {
  if (isWide(type)) throw new Error(`${fn} of ${type}`);
  return fn === "powi" ? exactPowi(args[0]!, args[1]!, (x) => wrap(type, x)) : wrap(type, mathFunction(fn)(...args));
}

const mathFunction = (fn: MathFn): ((...args: number[]) => number) => MATH[fn].of;

/*
 * By (from, to): f64<->f32 round to nearest; i32/u32 -> f64 exact; i32/u32 -> f32 rounded; i64/u64 -> f64 rounded to nearest, ties to even;
 * f64/f32 -> integers truncate toward zero, saturate at the type's limits, NaN gives 0; integers -> integers keep the low bits, and signed ones of
 * 32 bits are extended by their sign; bool -> number gives 0 or 1; number -> bool is x != 0 (NaN gives false). Between f32 and i64 or u64 there is
 * no cast, as languages differ in how they round twice: it goes by way of f64.
 */
export function evaluateCast(to: ScalarType, from: ScalarType, value: PlainValue): PlainValue {
  if (to === "bool") return typeof value === "boolean" ? value : value !== 0 && value !== 0n && value === value;
  if (isWide(to)) return isFloat(from) ? saturateWide(to, Number(value)) : wrapWide(to, BigInt(value));
  if (typeof value === "bigint" && isInteger(to)) return wrap(to, Number(BigInt.asIntN(32, value)));
  const x = Number(value);
  return isFloat(from) && isInteger(to) ? saturate(to, x) : wrap(to, x);
}

function saturate(to: Exclude<IntegerType, WideType>, x: number): number {
  const { least, greatest } = ELEMENTS[to];
  // Adding zero turns -0 into the integers' only zero.
  return x !== x ? 0 : Math.min(Math.max(Math.trunc(x), least), greatest) + 0;
}

function saturateWide(to: WideType, x: number): bigint {
  const { least, greatest } = ELEMENTS[to];
  if (x !== x) return 0n;
  return x <= Number(least) ? least : x >= Number(greatest) ? greatest : BigInt(Math.trunc(x));
}
