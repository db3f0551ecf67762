import type { BinaryFn, CompareFn } from "../../ir/types.js";

/* C expressions as texts that know how strongly they bind. */

/** Binding strength of C's operators, as far as they are used. */
export const enum Level {
  Comma,
  Assign,
  Select,
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equal,
  Order,
  Shift,
  Sum,
  Product,
  Prefix,
  Term,
}

/** A C expression and the strength of its outermost operator. */
export type Text = readonly [text: string, level: Level];

/** Operators that C has; the others are functions. */
export const OPERATORS: Record<Exclude<BinaryFn, "min" | "max" | "mulhi" | "copysign">, readonly [string, Level]> = {
  add: ["+", Level.Sum],
  sub: ["-", Level.Sum],
  mul: ["*", Level.Product],
  div: ["/", Level.Product],
  rem: ["%", Level.Product],
  and: ["&", Level.BitAnd],
  or: ["|", Level.BitOr],
  xor: ["^", Level.BitXor],
  shl: ["<<", Level.Shift],
  shr: [">>", Level.Shift],
};
export const COMPARISONS: Record<CompareFn, readonly [string, Level]> = {
  eq: ["==", Level.Equal],
  ne: ["!=", Level.Equal],
  lt: ["<", Level.Order],
  le: ["<=", Level.Order],
  gt: [">", Level.Order],
  ge: [">=", Level.Order],
};

/** The text, in parentheses if it binds less than `level`. */
export function at([text, level]: Text, least: Level): string {
  return level >= least ? text : `(${text})`;
}

/** A left-associative operator; subtraction and division keep the right operand apart, and so does everything in floating point. */
export function infix(sign: string, level: Level, a: Text, b: Text): Text {
  return [`${at(a, level)} ${sign} ${at(b, level + 1)}`, level];
}
