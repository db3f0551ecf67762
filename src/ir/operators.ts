import { copysign, exactPowi } from "./exact.js";
import { isFloat, isInteger, isUnsigned, isWord, wrap, type NumberType, type ScalarType } from "./scalars.js";

/*
 * The operators of expressions, a row each: what they take and give, what they mean, how they are written in print, what they cost. How a
 * language spells them stands in its emitter, in a record or a switch that wants an entry for each.
 */

/** A value of a kernel; of i64 and u64 a bigint. */
export type PlainValue = number | bigint | boolean;

/** Types that operands may have, in one word. */
type Operands = "number" | "float" | "integer" | "word" | "u32" | "bool";

interface Operator {
  readonly operands: Operands;
  /** Sign and binding strength in print; absent for what is written as a call. */
  readonly sign?: readonly [text: string, strength: number];
  /** Floating-point operations that one counts for on floats; see `costOf`. */
  readonly flops: 0 | 1;
}

interface UnaryOperator extends Operator {
  /** The type of the result, where it is not the operand's. */
  readonly gives?: ScalarType;
  /** Computes values other than bigints, for which see `wide.ts`. */
  readonly of: (a: number | boolean, type: NumberType) => number | boolean;
}

interface BinaryOperator extends Operator {
  /** The bits of the result are the same for signed and unsigned integers. */
  readonly sameBits: boolean;
  /** The exact result of two integers may be none of their type. */
  readonly overflows: boolean;
  /** Computes values other than bigints, for which see `wide.ts`. */
  readonly of: (a: number, b: number, type: NumberType) => number;
}

interface CompareOperator {
  /** Only numbers have an order; truth values are equal or not. */
  readonly operands: "number" | "any";
  readonly sign: readonly [text: string, strength: number];
  /** True exactly where this one is false, unless a NaN takes part. */
  readonly inverse: string;
  readonly of: (a: PlainValue, b: PlainValue) => boolean;
}

interface MathFunction {
  readonly arguments: 1 | 2;
  /** The second argument, where it is not of the first one's type. */
  readonly second?: ScalarType;
  readonly of: (...args: number[]) => number;
}

const UNARY_STRENGTH = 11;

/**
 * neg: of any numeric type (integers wrap); bitnot: integers; not: bool; abs: any numeric type (abs of the least i32 wraps).
 * sqrt, floor, ceil, trunc, round: f64 and f32, exact; round takes halves up, and from -0.5 to -0 gives -0. clz: i32 or u32 to i32, 32 for zero.
 */
export const UNARY = {
  neg: { operands: "number", sign: ["-", UNARY_STRENGTH], flops: 0, of: (a, type) => (isFloat(type) ? -a : wrap(type, 0 - +a)) },
  not: { operands: "bool", sign: ["!", UNARY_STRENGTH], flops: 0, of: (a) => !a },
  bitnot: { operands: "integer", sign: ["~", UNARY_STRENGTH], flops: 0, of: (a, type) => wrap(type, ~a) },
  abs: { operands: "number", flops: 0, of: (a, type) => wrap(type, Math.abs(+a)) },
  sqrt: { operands: "float", flops: 1, of: (a, type) => wrap(type, Math.sqrt(+a)) },
  floor: { operands: "float", flops: 0, of: (a) => Math.floor(+a) },
  ceil: { operands: "float", flops: 0, of: (a) => Math.ceil(+a) },
  trunc: { operands: "float", flops: 0, of: (a) => Math.trunc(+a) },
  round: { operands: "float", flops: 0, of: (a) => Math.round(+a) },
  clz: { operands: "word", gives: "i32", flops: 0, of: (a) => Math.clz32(+a) },
} as const satisfies Record<string, UnaryOperator>;

/** The name of an operator of one value, in `UNARY`. */
export type UnaryFn = keyof typeof UNARY;

/**
 * Operands and result have one type. Integers: add, sub and mul wrap; div truncates, x/0 = 0, least/-1 wraps; rem has the sign of the
 * dividend, x%0 = 0; shifts take their count modulo 32; shr is arithmetic for i32 and logical for u32; mulhi is u32 only, the upper
 * half of the 64-bit product. Of i64 and u64 shifts take their count modulo 64. Floats: add, sub, mul, div round to nearest; min and max follow Math.min and Math.max (NaN wins,
 * -0 < +0); rem is C's fmod, exact; copysign has the sign of b, which counts as + where b is a NaN. f32 results are rounded from f64 ones, which is
 * exact for + - * / (Figueroa, "When is double rounding innocuous?", 1995).
 */
export const BINARY = {
  add: { operands: "number", sign: ["+", 9], flops: 1, sameBits: true, overflows: true, of: (a, b, type) => wrap(type, a + b) },
  sub: { operands: "number", sign: ["-", 9], flops: 1, sameBits: true, overflows: true, of: (a, b, type) => wrap(type, a - b) },
  mul: {
    operands: "number",
    sign: ["*", 10],
    flops: 1,
    sameBits: true,
    overflows: true,
    of: (a, b, type) => wrap(type, isFloat(type) ? a * b : Math.imul(a, b)),
  },
  div: {
    operands: "number",
    sign: ["/", 10],
    flops: 1,
    sameBits: false,
    overflows: true,
    of: (a, b, type) => (isFloat(type) ? wrap(type, a / b) : b === 0 ? 0 : wrap(type, Math.trunc(a / b))),
  },
  rem: {
    operands: "number",
    sign: ["%", 10],
    flops: 1,
    sameBits: false,
    overflows: true,
    of: (a, b, type) => (isFloat(type) ? a % b : b === 0 ? 0 : wrap(type, a % b)),
  },
  min: { operands: "number", flops: 1, sameBits: false, overflows: false, of: (a, b) => Math.min(a, b) },
  max: { operands: "number", flops: 1, sameBits: false, overflows: false, of: (a, b) => Math.max(a, b) },
  copysign: { operands: "float", flops: 0, sameBits: false, overflows: false, of: copysign },
  and: { operands: "integer", sign: ["&", 5], flops: 0, sameBits: true, overflows: false, of: (a, b, type) => wrap(type, a & b) },
  or: { operands: "integer", sign: ["|", 3], flops: 0, sameBits: true, overflows: false, of: (a, b, type) => wrap(type, a | b) },
  xor: { operands: "integer", sign: ["^", 4], flops: 0, sameBits: true, overflows: false, of: (a, b, type) => wrap(type, a ^ b) },
  shl: { operands: "integer", sign: ["<<", 8], flops: 0, sameBits: true, overflows: false, of: (a, b, type) => wrap(type, a << b) },
  shr: {
    operands: "integer",
    sign: [">>", 8],
    flops: 0,
    sameBits: false,
    overflows: false,
    of: (a, b, type) => (isUnsigned(type) ? a >>> b : a >> b),
  },
  mulhi: {
    operands: "u32",
    flops: 0,
    sameBits: false,
    overflows: false,
    of: (a, b) => Number((BigInt(a) * BigInt(b)) >> 32n),
  },
} as const satisfies Record<string, BinaryOperator>;

/** The name of an operator of two values, in `BINARY`. */
export type BinaryFn = keyof typeof BINARY;

/** Comparisons, with their signs, their opposites and what they compute. */
export const COMPARE = {
  eq: { operands: "any", sign: ["==", 6], inverse: "ne", of: (a, b) => a === b },
  ne: { operands: "any", sign: ["!=", 6], inverse: "eq", of: (a, b) => a !== b },
  lt: { operands: "number", sign: ["<", 7], inverse: "ge", of: (a, b) => a < b },
  le: { operands: "number", sign: ["<=", 7], inverse: "gt", of: (a, b) => a <= b },
  gt: { operands: "number", sign: [">", 7], inverse: "le", of: (a, b) => a > b },
  ge: { operands: "number", sign: [">=", 7], inverse: "lt", of: (a, b) => a >= b },
} as const satisfies Record<string, CompareOperator>;

/** The name of a comparison, in `COMPARE`. */
export type CompareFn = keyof typeof COMPARE;

/**
 * Functions of f64 and f32; each counts as one floating-point operation. They are within 2 ulp on every backend. powi is made of rounded
 * products in a fixed order, see `exact.ts`, and so has the same bits everywhere.
 */
export const MATH = {
  exp: { arguments: 1, of: Math.exp },
  expm1: { arguments: 1, of: Math.expm1 },
  exp2: { arguments: 1, of: (x) => 2 ** x },
  log: { arguments: 1, of: Math.log },
  log1p: { arguments: 1, of: Math.log1p },
  log2: { arguments: 1, of: Math.log2 },
  log10: { arguments: 1, of: Math.log10 },
  pow: { arguments: 2, of: Math.pow },
  powi: { arguments: 2, second: "i32", of: (x, n) => exactPowi(x, n) },
  sin: { arguments: 1, of: Math.sin },
  cos: { arguments: 1, of: Math.cos },
  tan: { arguments: 1, of: Math.tan },
  asin: { arguments: 1, of: Math.asin },
  acos: { arguments: 1, of: Math.acos },
  atan: { arguments: 1, of: Math.atan },
  atan2: { arguments: 2, of: Math.atan2 },
  sinh: { arguments: 1, of: Math.sinh },
  cosh: { arguments: 1, of: Math.cosh },
  tanh: { arguments: 1, of: Math.tanh },
  cbrt: { arguments: 1, of: Math.cbrt },
  hypot: { arguments: 2, of: Math.hypot },
} as const satisfies Record<string, MathFunction>;

/** The name of a function that is not exact, in `MATH`. */
export type MathFn = keyof typeof MATH;
export type InexactFn = Exclude<MathFn, "powi">;

/** The type of argument number `n` of a function of values of `type`. */
export function argumentType(fn: MathFn, n: number, type: ScalarType): ScalarType {
  const { second }: MathFunction = MATH[fn];
  return n === 1 && second ? second : type;
}

type Taking<T extends Record<string, { operands: Operands }>, O extends Operands> = {
  [F in keyof T]: T[F]["operands"] extends O ? F : never;
}[keyof T];

/** Operators that take floats. */
export type FloatUnaryFn = Taking<typeof UNARY, "number" | "float">;
export type FloatBinaryFn = Taking<typeof BINARY, "number" | "float">;

export const isFloatUnary = (fn: UnaryFn): fn is FloatUnaryFn => unaryFits(fn, "f64", "f64");
export const isFloatBinary = (fn: BinaryFn): fn is FloatBinaryFn => binaryFits(fn, "f64");

const TAKES: Record<Operands, (type: ScalarType) => boolean> = {
  number: (type) => type !== "bool",
  float: isFloat,
  integer: isInteger,
  word: isWord,
  u32: (type) => type === "u32",
  bool: (type) => type === "bool",
};

/** True where a unary operator takes `operand` and gives `result`. */
export function unaryFits(fn: UnaryFn, operand: ScalarType, result: ScalarType): boolean {
  const { operands, gives }: UnaryOperator = UNARY[fn];
  return TAKES[operands](operand) && result === (gives ?? operand);
}

/** True where a binary operator takes two operands of the type, and gives one. */
export const binaryFits = (fn: BinaryFn, type: ScalarType): boolean => TAKES[BINARY[fn].operands](type);

/** True where values of the type can be compared so. */
export const compareFits = (fn: CompareFn, type: ScalarType): boolean => COMPARE[fn].operands === "any" || type !== "bool";

/** Sign and binding strength of an operator in print; undefined for what is written as a call. */
export const signOf = (operator: UnaryOperator | BinaryOperator): Operator["sign"] => operator.sign;
