import { unreachable } from "../../base/unreachable.js";
import { isFloat, isWide, type NumericType, type ScalarType, type WideType } from "../../ir/scalars.js";
import type { BinaryFn, Expr } from "../../ir/types.js";

/* Integers of 64 bits: bigints that are cut to 64 bits after each operation that may leave them, which engines compile to machine arithmetic. */

/** The cut of an exact result to the bits of a type. */
export const cutWide = (type: WideType, exact: string): string => `BigInt.as${type === "i64" ? "Int" : "Uint"}N(64, ${exact})`;

/** Functions that emitted code may call, by their names. */
export const WIDE_HELPERS: Record<string, string> = {
  $least: "const $least = (a, b) => (a < b ? a : b);",
  $greatest: "const $greatest = (a, b) => (a > b ? a : b);",
  $quotient: "const $quotient = (a, b) => (b === 0n ? 0n : a / b);",
  $remainder: "const $remainder = (a, b) => (b === 0n ? 0n : a % b);",
  $toI64: toWide("i64", "-0x8000000000000000n", "0x7fffffffffffffffn"),
  $toU64: toWide("u64", "0n", "0xffffffffffffffffn"),
};

/** The function that converts a float: the whole part, at the limits where it is beyond them. */
function toWide(type: WideType, least: string, greatest: string): string {
  const name = type === "i64" ? "$toI64" : "$toU64";
  return `const ${name} = (x) => (x !== x ? 0n : x <= Number(${least}) ? ${least} : x >= Number(${greatest}) ? ${greatest} : BigInt(Math.trunc(x)));`;
}

/** Gives the text for an exact result that may not fit; undefined where nothing is checked. */
type Checked = (exact: string) => string | undefined;

const SIGNS: Partial<Record<BinaryFn, string>> = { add: "+", sub: "-", mul: "*", and: "&", or: "|", xor: "^" };

/** An operation on operands, which are in brackets where they need them. */
export function wideBinary(fn: BinaryFn, type: WideType, a: string, b: string, checked?: Checked): string {
  switch (fn) {
    case "add":
    case "sub":
    case "mul": {
      const exact = `${a} ${SIGNS[fn]} ${b}`;
      return checked?.(exact) ?? cutWide(type, exact);
    }
    case "div":
    case "rem":
      return divided(fn, type, a, b, checked);
    case "min":
      return `$least(${a}, ${b})`;
    case "max":
      return `$greatest(${a}, ${b})`;
    case "and":
    case "or":
    case "xor":
      return `(${a} ${SIGNS[fn]} ${b})`;
    case "shl":
    case "shr":
      return shifted(fn, type, a, b, checked);
    case "copysign":
    case "mulhi":
      throw new Error(`${fn} of ${type}`);
    default:
      return unreachable(fn);
  }
}

function divided(fn: "div" | "rem", type: WideType, a: string, b: string, checked?: Checked): string {
  const result = `${fn === "div" ? "$quotient" : "$remainder"}(${a}, ${b})`;
  // Only the least i64 over -1 does not fit; what is checked has no value where b is 0n.
  const exact = checked?.(`${b} === 0n ? undefined : ${a} ${fn === "div" ? "/" : "%"} ${b}`);
  return exact ?? (fn === "div" && type === "i64" ? cutWide(type, result) : result);
}

function shifted(fn: "shl" | "shr", type: WideType, a: string, b: string, checked?: Checked): string {
  const known = /^\d+n$/.test(b);
  const count = known ? b : `(${b} & 63n)`;
  const text = fn === "shl" ? cutWide(type, `${a} << ${count}`) : `(${a} >> ${count})`;
  return known ? text : (checked?.(`${b} >= 0n && ${b} <= 63n ? ${text} : null`) ?? text);
}

/** An operation on one operand. */
export function wideUnary({ fn, type }: Extract<Expr, { op: "unary" }>, a: string, checked?: Checked): string {
  const fitting = (exact: string): string => checked?.(exact) ?? cutWide(type as WideType, exact);
  switch (fn) {
    case "neg":
      return fitting(`-${a}`);
    case "bitnot":
      return cutWide(type as WideType, `~${a}`);
    case "abs":
      return type === "u64" ? a : fitting(`${a} < 0n ? -${a} : ${a}`);
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

/** A conversion from or to an integer of 64 bits, of a value in brackets where it needs them. */
export function wideCast(from: ScalarType, to: ScalarType, a: string): string {
  if (to === "bool") return `(${a} !== 0n)`;
  if (isWide(to)) {
    if (isFloat(from)) return `${to === "i64" ? "$toI64" : "$toU64"}(${a})`;
    // Each i32 and u32 is an i64, and each u32 a u64.
    const exact = isWide(from) ? a : `BigInt(${a})`;
    return !isWide(from) && (to === "i64" || from !== "i32") ? exact : cutWide(to, exact);
  }
  if (to === "i32") return `Number(BigInt.asIntN(32, ${a}))`;
  if (to === "u32") return `Number(BigInt.asUintN(32, ${a}))`;
  return `Number(${a})`;
}

/** Zero of a type, as text. */
export const zeroText = (type: ScalarType): string => (type === "bool" ? "false" : isWide(type) ? "0n" : "0");

/** The type whose arrays hold what loops fold: f64 for all numbers. */
export const foldedType = (type: NumericType): NumericType => (isWide(type) ? type : "f64");
