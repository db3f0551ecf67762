import type { BinaryFn, CompareFn } from "../../ir/types.js";

/* C expressions as texts that know how strongly they bind. */

/** Binding strength of C's operators, as far as they are used. */
export const enum Precedence {
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
export type Text = readonly [text: string, level: Precedence];

/** Operators that C has; the others are functions. */
export const OPERATORS: Record<Exclude<BinaryFn, "min" | "max" | "mulhi" | "copysign">, readonly [string, Precedence]> = {
  add: ["+", Precedence.Sum],
  sub: ["-", Precedence.Sum],
  mul: ["*", Precedence.Product],
  div: ["/", Precedence.Product],
  rem: ["%", Precedence.Product],
  and: ["&", Precedence.BitAnd],
  or: ["|", Precedence.BitOr],
  xor: ["^", Precedence.BitXor],
  shl: ["<<", Precedence.Shift],
  shr: [">>", Precedence.Shift],
};
export const COMPARISONS: Record<CompareFn, readonly [string, Precedence]> = {
  eq: ["==", Precedence.Equal],
  ne: ["!=", Precedence.Equal],
  lt: ["<", Precedence.Order],
  le: ["<=", Precedence.Order],
  gt: [">", Precedence.Order],
  ge: [">=", Precedence.Order],
};

/** The text, in parentheses if it binds less than `level`. */
export function at([text, level]: Text, least: Precedence): string {
  return level >= least ? text : `(${text})`;
}

/** A left-associative operator; subtraction and division keep the right operand apart, and so does everything in floating point. */
export function infix(sign: string, level: Precedence, a: Text, b: Text): Text {
  return [`${at(a, level)} ${sign} ${at(b, level + 1)}`, level];
}
