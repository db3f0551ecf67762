import { unreachable } from "../base/unreachable.js";
import type { BinaryFn, UnaryFn } from "./operators.js";
import { wrapWide, type WideType } from "./scalars.js";

/* The meaning of operators on i64 and u64. Results wrap; what divides by zero gives 0; shifts take their count modulo 64. */

/** The result of an operator of one operand. */
export function evaluateWideUnary(fn: UnaryFn, type: WideType, a: bigint): bigint {
  switch (fn) {
    case "neg":
      return wrapWide(type, -a);
    case "bitnot":
      return wrapWide(type, ~a);
    case "abs":
      return wrapWide(type, a < 0n ? -a : a);
    case "not":
    case "sqrt":
    case "floor":
    case "ceil":
    case "trunc":
    case "round":
    case "clz":
      throw new Error(`${fn} of ${type}`);
    default:
      return unreachable(fn);
  }
}

/** The result of an operator of two operands. */
export function evaluateWideBinary(fn: BinaryFn, type: WideType, a: bigint, b: bigint): bigint {
  switch (fn) {
    case "add":
      return wrapWide(type, a + b);
    case "sub":
      return wrapWide(type, a - b);
    case "mul":
      return wrapWide(type, a * b);
    case "div":
      return b === 0n ? 0n : wrapWide(type, a / b);
    case "rem":
      return b === 0n ? 0n : a % b;
    case "min":
      return a < b ? a : b;
    case "max":
      return a > b ? a : b;
    case "and":
      return a & b;
    case "or":
      return a | b;
    case "xor":
      return a ^ b;
    case "shl":
      return wrapWide(type, a << (b & 63n));
    case "shr":
      return a >> (b & 63n);
    case "copysign":
    case "mulhi":
      throw new Error(`${fn} of ${type}`);
    default:
      return unreachable(fn);
  }
}
