/*
 * Declarations.
 */

import type { Location } from "../../ir/types.js";
import type { Directive } from "./directives.js";
import type { Apply, ComponentRef, Expr, Name, TypeSpec } from "./expressions.js";

export type Declaration = VariableDeclaration | TypeDefinition | Interface | AttributeStatement | OtherDeclaration;

export interface VariableDeclaration {
  readonly kind: "variables";
  readonly type: TypeSpec;
  /** parameter, device, value, managed, constant, allocatable, pointer, target, contiguous, optional, save, dimension, intent(in|out|inout) as "intent(in)". */
  readonly attributes: readonly string[];
  /** `dimension(…)` of all names. */
  readonly dimension?: readonly Bound[];
  readonly names: readonly DeclaredName[];
  readonly at: Location;
  readonly before?: readonly string[];
  readonly behind?: string;
  /** For a line `!@cuf …`. */
  readonly cudaOnly?: true;
}

export interface DeclaredName {
  readonly name: string;
  readonly dimension?: readonly Bound[];
  readonly init?: Expr;
  /** Written `=> null()`. */
  readonly points?: true;
  readonly at: Location;
}

/** One axis: `lower:upper`; `n` has no lower; `:` has neither; `1:` no upper; `*` is assumed size. */
export interface Bound {
  readonly lower?: Expr;
  readonly upper?: Expr | "*";
  /** True of `:` and `1:`, whose extent the actual argument gives. */
  readonly assumed: boolean;
}

export interface TypeDefinition {
  readonly kind: "type";
  readonly name: string;
  /** Accessibility by an attribute. */
  readonly access?: "private" | "public";
  /** The type that it extends. */
  readonly parent?: string;
  readonly components: readonly VariableDeclaration[];
  /** Procedures after `contains`, as written. */
  readonly procedures: readonly string[];
  /** The lines as written, for output. */
  readonly text: readonly string[];
  readonly at: Location;
  readonly before?: readonly string[];
}

/** Names alone are read; it is printed as it stands. */
export interface Interface {
  readonly kind: "interface";
  /** `interface swap`; undefined of operators and of interfaces without a name. */
  readonly generic?: string;
  /** Names after `module procedure`. */
  readonly specifics?: readonly string[];
  /** Procedures whose headings stand in it. */
  readonly bodies?: readonly string[];
  readonly text: readonly string[];
  readonly at: Location;
  readonly before?: readonly string[];
}

/** `device :: a, b`, `dimension a(5)`, `parameter (x = 1)` and the like. */
export interface AttributeStatement {
  readonly kind: "attributes";
  readonly attribute: string;
  readonly names: readonly DeclaredName[];
  readonly at: Location;
  readonly before?: readonly string[];
  /** For a line `!@cuf …`. */
  readonly cudaOnly?: true;
}

/** `private`, `public :: a`, `save`, a directive among the declarations, `common`, `equivalence`: by the first word, as written. */
export interface OtherDeclaration {
  readonly kind: "other";
  readonly word: string;
  readonly text: string;
  readonly directive?: Directive;
  /** For `data`, where it could be read. */
  readonly data?: readonly DataSet[];
  /** For `common`, where it could be read. */
  readonly common?: readonly CommonBlock[];
  /** For `implicit`, where it could be read. */
  readonly implicit?: readonly ImplicitRule[];
  readonly at: Location;
  readonly before?: readonly string[];
}

/** `/name/ a, b(3)`; the name is "" for the block without one. */
export interface CommonBlock {
  readonly name: string;
  readonly names: readonly DeclaredName[];
}

/** The type of names that begin with these letters. */
export interface ImplicitRule {
  readonly type: TypeSpec;
  readonly letters: readonly string[];
}

/** Objects of a `data` statement, and the values of their elements in order. */
export interface DataSet {
  readonly objects: readonly (Name | ComponentRef | Apply | DataLoop)[];
  readonly values: readonly { readonly count?: Expr; readonly value: Expr }[];
}

/** `(a(i), b(i), i = 1, n)` */
export interface DataLoop {
  readonly kind: "data-loop";
  readonly items: DataSet["objects"];
  readonly variable: string;
  readonly start: Expr;
  readonly stop: Expr;
  readonly step?: Expr;
}
