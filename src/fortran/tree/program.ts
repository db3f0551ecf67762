/*
 * Files, their units and declarations.
 */

import type { Location } from "../../ir/types.js";
import type { Directive } from "./directives.js";
import type { Expr } from "./expressions.js";
import type { Stmt } from "./statements.js";

export interface SourceFile {
  readonly file: string;
  readonly units: readonly Unit[];
  /** Comments and blank lines behind the last unit. */
  readonly after: readonly string[];
}

export type Unit = Module | Procedure | Program;

interface Scope {
  readonly name: string;
  readonly uses: readonly Use[];
  readonly implicitNone: boolean;
  readonly declarations: readonly Declaration[];
  /** Behind `contains`. */
  readonly procedures: readonly Procedure[];
  readonly at: Location;
  /** Of the `end` statement. */
  readonly end: Location;
  readonly before?: readonly string[];
  /** Comments and blank lines in front of `contains`, and of `end` behind procedures. */
  readonly beforeContains?: readonly string[];
  readonly beforeEnd?: readonly string[];
}

export interface Module extends Scope {
  readonly kind: "module";
}

export interface Program extends Scope {
  readonly kind: "program";
  readonly body: readonly Stmt[];
  /** Whether statements of it could not be read. */
  readonly broken?: true;
}

export interface Procedure extends Scope {
  readonly kind: "procedure";
  readonly form: "subroutine" | "function";
  readonly dummies: readonly string[];
  /** `attributes(global)`, `attributes(host, device)`; ["host"] if omitted. */
  readonly attributes: readonly string[];
  readonly launchBounds?: readonly Expr[];
  /** pure, elemental, recursive, impure. */
  readonly prefixes: readonly string[];
  /** Of a function whose type stands in front. */
  readonly type?: TypeSpec;
  /** Of a function: its own name where `result` is absent. */
  readonly result?: string;
  readonly body: readonly Stmt[];
  /** Whether statements of it could not be read. */
  readonly broken?: true;
}

export interface Use {
  readonly module: string;
  readonly intrinsic: boolean;
  /** Absent: everything. `name => original`. */
  readonly only?: readonly { readonly name: string; readonly original: string }[];
  readonly renames: readonly { readonly name: string; readonly original: string }[];
  readonly at: Location;
  readonly before?: readonly string[];
  /** Of a line `!@cuf use …`. */
  readonly cudaOnly?: true;
}

export type Declaration = VariableDeclaration | TypeDefinition | Interface | AttributeStatement | OtherDeclaration;

export interface TypeSpec {
  readonly type: "integer" | "real" | "logical" | "complex" | "character" | "double precision" | "derived";
  /** Of `real(rkind)`, `real(kind=8)`, `real*8`; of a character its length. */
  readonly kindOf?: Expr;
  /** Of `type(t)` and `class(t)`. */
  readonly derived?: string;
  /** As written, for output: `real*8`, `character(len=*)`, `class(t)`. */
  readonly text: string;
  readonly at: Location;
}

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
  /** Of a line `!@cuf …`. */
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
  readonly components: readonly VariableDeclaration[];
  /** Procedures behind `contains`, as written. */
  readonly procedures: readonly string[];
  /** The lines as written, for output. */
  readonly text: readonly string[];
  readonly at: Location;
  readonly before?: readonly string[];
}

/** Read over, and printed as it stands. */
export interface Interface {
  readonly kind: "interface";
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
  /** Of a line `!@cuf …`. */
  readonly cudaOnly?: true;
}

/** `private`, `public :: a`, `save`, a directive among the declarations, `common`, `equivalence`: by the first word, as written. */
export interface OtherDeclaration {
  readonly kind: "other";
  readonly word: string;
  readonly text: string;
  readonly directive?: Directive;
  readonly at: Location;
  readonly before?: readonly string[];
}
