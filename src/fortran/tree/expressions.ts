/*
 * Expressions of Fortran as they are written. Names are lower case; whether `f(x)` is a call or an element is known once declarations are read
 * (analyse/symbols).
 */

import type { Location } from "../../ir/types.js";

export type BinaryOp = "+" | "-" | "*" | "/" | "**" | "//" | "==" | "/=" | "<" | "<=" | ">" | ">=" | ".and." | ".or." | ".eqv." | ".neqv.";

export type UnaryOp = "+" | "-" | ".not.";

export type Expr = Literal | Name | ComponentRef | Apply | ComplexLiteral | Unary | Binary | Parenthesised | Constructor;

export interface Literal {
  readonly kind: "literal";
  readonly type: "integer" | "real" | "logical" | "character";
  /** Without the kind: `1.5d0`, `.true.`, `z'ff'`, the text between a string's quotes. An exponent `d` stays in it. */
  readonly text: string;
  /** Its kind, a name such as `rkind`, or digits: what follows `_`, and what stands before it and a string. */
  readonly suffix?: string;
  readonly at: Location;
}

export interface Name {
  readonly kind: "name";
  readonly name: string;
  readonly at: Location;
}

/** A component: `p%nx`. */
export interface ComponentRef {
  readonly kind: "part";
  readonly base: Expr;
  readonly name: string;
  readonly at: Location;
}

/** An element, a section, a call of a function or a constructor of a type: `f(x, y)`. */
export interface Apply {
  readonly kind: "apply";
  readonly base: Name | ComponentRef;
  readonly args: readonly ActualArgument[];
  readonly at: Location;
}

export type ActualArgument = ValueArgument | SectionArgument;

export interface ValueArgument {
  readonly kind: "value";
  readonly keyword?: string;
  readonly value: Expr;
}

/** `lower:upper:step`, each of which may be absent. */
export interface SectionArgument {
  readonly kind: "section";
  readonly lower?: Expr;
  readonly upper?: Expr;
  readonly step?: Expr;
}

/** `(1.0, 2.0)`; in kernels any two real expressions that are a complex number. */
export interface ComplexLiteral {
  readonly kind: "complex";
  readonly re: Expr;
  readonly im: Expr;
  readonly at: Location;
}

export interface Unary {
  readonly kind: "unary";
  readonly op: UnaryOp;
  readonly a: Expr;
  readonly at: Location;
}

/** Operators stand in the tree as precedence and associativity have it; `.lt.` is `<`. */
export interface Binary {
  readonly kind: "binary";
  readonly op: BinaryOp;
  /** Written `.lt.`, not `<`. */
  readonly dotted?: true;
  readonly a: Expr;
  readonly b: Expr;
  readonly at: Location;
}

/** Parentheses, which a compiler may not reorder across. */
export interface Parenthesised {
  readonly kind: "group";
  readonly a: Expr;
  readonly at: Location;
}

/** `[1, 2, 3]`, `(/ 1, 2 /)`, with implied loops. */
export interface Constructor {
  readonly kind: "constructor";
  /** Written before `::`. */
  readonly type?: TypeSpec;
  readonly items: readonly (Expr | ImpliedDo)[];
  readonly at: Location;
}

export interface ImpliedDo {
  readonly kind: "implied-do";
  readonly items: readonly Expr[];
  readonly variable: string;
  readonly start: Expr;
  readonly stop: Expr;
  readonly step?: Expr;
  readonly at: Location;
}

export interface TypeSpec {
  readonly type: "integer" | "real" | "logical" | "complex" | "double complex" | "character" | "double precision" | "derived";
  /** For `real(rkind)`, `real(kind=8)`, `real*8`; for a character its length. */
  readonly kindOf?: Expr;
  /** For `type(t)` and `class(t)`. */
  readonly derived?: string;
  /** As written, for output: `real*8`, `character(len=*)`, `class(t)`. */
  readonly text: string;
  readonly at: Location;
}
