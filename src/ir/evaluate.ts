import { BINARY, COMPARE, MATH, UNARY, type BinaryFn, type CompareFn, type MathFn, type UnaryFn, type PlainValue } from "./operators.js";
import { exactPowi } from "./exact.js";
import { ELEMENTS, isFloat, isInteger, wrap, type IntegerType, type NumericType, type ScalarType } from "./scalars.js";

/*
 * The run-time meaning of expressions on values: numbers that are exactly representable in their type, and booleans. The operators' meaning
 * is in their table.
 */

export type { PlainValue };
export { isFloat, wrap };

export const evaluateUnary = (fn: UnaryFn, type: ScalarType, a: PlainValue): PlainValue => UNARY[fn].of(a, type as NumericType);

export const evaluateBinary = (fn: BinaryFn, type: NumericType, x: number, y: number): number => BINARY[fn].of(x, y, type);

export const evaluateComparison = (fn: CompareFn, a: PlainValue, b: PlainValue): boolean => COMPARE[fn].of(a, b);

export const evaluateCall = (fn: MathFn, type: NumericType, args: readonly number[]): number =>
  fn === "powi" ? exactPowi(args[0]!, args[1]!, (x) => wrap(type, x)) : wrap(type, mathFunction(fn)(...args));

const mathFunction = (fn: MathFn): ((...args: number[]) => number) => MATH[fn].of;

/*
 * By (from, to): f64<->f32 round to nearest; i32/u32 -> f64 exact; i32/u32 -> f32 rounded; f64/f32 -> i32/u32 truncate toward zero,
 * saturate at the type's limits, NaN gives 0; i32<->u32 keep the bits; bool -> number gives 0 or 1; number -> bool is x != 0 (NaN gives
 * false).
 */
export function evaluateCast(to: ScalarType, from: ScalarType, value: PlainValue): PlainValue {
  if (to === "bool") return typeof value === "boolean" ? value : value !== 0 && value === value;
  const x = Number(value);
  return isFloat(from) && isInteger(to) ? saturate(to, x) : wrap(to, x);
}

function saturate(to: IntegerType, x: number): number {
  const { least, greatest } = ELEMENTS[to];
  // Adding zero turns -0 into the integers' only zero.
  return x !== x ? 0 : Math.min(Math.max(Math.trunc(x), least), greatest) + 0;
}
