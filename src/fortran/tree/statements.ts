/*
 * Statements of Fortran as they are written, with what stands around them: comments and blank lines, which readable output keeps.
 */

import type { Location } from "../../ir/types.js";
import type { Directive, LaunchDirective, ReductionOp } from "./directives.js";
import type { Apply, Expr, Name, ComponentRef } from "./expressions.js";
import type { Declaration } from "./declarations.js";
import type { Use } from "./use.js";

interface Around {
  readonly at: Location;
  /** Lines before it: comments with their `!`, and "" for a blank line. */
  readonly before?: readonly string[];
  /** A comment on its line, with its `!`. */
  readonly behind?: string;
  /** A comment on the line that ends it: `end do ! over cells`. */
  readonly behindEnd?: string;
  /** A numeric label. */
  readonly label?: string;
}

export type Stmt =
  | Assign
  | PointerAssign
  | CallStatement
  | If
  | Do
  | DoWhile
  | DoConcurrent
  | SelectCase
  | Associate
  | Where
  | BlockConstruct
  | Exit
  | Cycle
  | Return
  | Stop
  | Continue
  | Print
  | Allocate
  | Deallocate
  | Directed
  | Comment
  | Unsupported;

export type Designator = Name | ComponentRef | Apply;

export interface Assign extends Around {
  readonly kind: "assign";
  readonly target: Designator;
  readonly value: Expr;
  /** For a line `!@cuf …`, which only a compiler of CUDA Fortran reads. */
  readonly cudaOnly?: true;
  /** Just before its procedure ends: no bound of an array is read after it. */
  readonly isLast?: true;
}

export interface PointerAssign extends Around {
  readonly kind: "pointer-assign";
  readonly target: Designator;
  readonly value: Expr;
}

export interface CallStatement extends Around {
  readonly kind: "call";
  /** `self%copy` is a type-bound procedure. */
  readonly procedure: Name | ComponentRef;
  readonly args: Apply["args"];
  /** `call k<<<grid, block, shared, stream>>>(…)`. */
  readonly launch?: LaunchDirective;
  readonly cudaOnly?: true;
}

/** `if`, `else if` … `else`; a one-line `if` has one branch with one statement. */
export interface If extends Around {
  readonly kind: "if";
  readonly branches: readonly Branch[];
  readonly otherwise?: BlockConstruct["body"];
  /** A comment on the line of `else`. */
  readonly behindElse?: string;
  readonly oneLine: boolean;
  readonly name?: string;
}

export interface Branch {
  readonly cond: Expr;
  readonly body: readonly Stmt[];
  readonly at: Location;
  readonly before?: readonly string[];
  /** A comment on the line of `else if`; the first branch's comment belongs to the statement. */
  readonly behind?: string;
}

export interface Do extends Around {
  readonly kind: "do";
  readonly variable: string;
  readonly start: Expr;
  readonly stop: Expr;
  readonly step?: Expr;
  readonly body: readonly Stmt[];
  readonly name?: string;
}

/** `do while (cond)`; a bare `do` has no condition. */
export interface DoWhile extends Around {
  readonly kind: "do-while";
  readonly cond?: Expr;
  readonly body: readonly Stmt[];
  readonly name?: string;
}

export interface DoConcurrent extends Around {
  readonly kind: "do-concurrent";
  readonly axes: readonly { readonly variable: string; readonly start: Expr; readonly stop: Expr; readonly step?: Expr }[];
  readonly mask?: Expr;
  readonly local: readonly string[];
  readonly localInit: readonly string[];
  readonly shared: readonly string[];
  readonly reduce: readonly { readonly op: ReductionOp; readonly names: readonly string[] }[];
  /** Written `forall`: each statement for all elements, and the right side before any is assigned. */
  readonly forall?: true;
  readonly body: readonly Stmt[];
  readonly name?: string;
}

export interface SelectCase extends Around {
  readonly kind: "select";
  readonly value: Expr;
  readonly cases: readonly {
    /** Absent: `case default`. */
    readonly ranges?: readonly CaseRange[];
    readonly body: readonly Stmt[];
    readonly at: Location;
    readonly before?: readonly string[];
    readonly behind?: string;
  }[];
  readonly name?: string;
}

/** One value has `lower` and `upper` that are the same expression. */
export interface CaseRange {
  readonly lower?: Expr;
  readonly upper?: Expr;
}

export interface Associate extends Around {
  readonly kind: "associate";
  readonly names: readonly { readonly name: string; readonly value: Expr }[];
  readonly body: readonly Stmt[];
  readonly name?: string;
}

/** `where (mask) … elsewhere (mask) … elsewhere`. */
export interface Where extends Around {
  readonly kind: "where";
  readonly branches: readonly Branch[];
  readonly otherwise?: readonly Stmt[];
  readonly oneLine: boolean;
}

export interface BlockConstruct extends Around {
  readonly kind: "block";
  /** Declarations of its own variables. */
  readonly declarations?: readonly Declaration[];
  readonly uses?: readonly Use[];
  readonly body: readonly Stmt[];
  readonly name?: string;
}

export interface Exit extends Around {
  readonly kind: "exit";
  readonly loop?: string;
}

export interface Cycle extends Around {
  readonly kind: "cycle";
  readonly loop?: string;
}

export interface Return extends Around {
  readonly kind: "return";
}

export interface Stop extends Around {
  readonly kind: "stop";
  readonly value?: Expr;
  /** `error stop` */
  readonly error?: true;
}

export interface Continue extends Around {
  readonly kind: "continue";
}

/** `print *, items` and `write(*,*) items`. */
export interface Print extends Around {
  readonly kind: "print";
  /** As written: `*`, or a format. */
  readonly format: string;
  readonly items: readonly Expr[];
}

export interface Allocate extends Around {
  readonly kind: "allocate";
  readonly arrays: readonly { readonly target: Designator; readonly at: Location }[];
  /** `stat=ierr`, `source=a`. */
  readonly options: readonly { readonly keyword: string; readonly value: Expr }[];
}

export interface Deallocate extends Around {
  readonly kind: "deallocate";
  readonly arrays: readonly Designator[];
  readonly options: Allocate["options"];
}

/** A directive and, where it governs one, its loop or block; data directives and `end` ones that stand alone have no body. */
export interface Directed extends Around {
  readonly kind: "directed";
  readonly directive: Directive;
  readonly body: readonly Stmt[];
  /** Whether an `end` directive closes it. */
  readonly closed: boolean;
}

/** Does nothing: its `before` are the comments and blank lines that stand last in a body. */
export interface Comment extends Around {
  readonly kind: "comment";
}

/** A statement of Fortran that is outside the language; refused where it would have to run, and printed as it stands elsewhere. */
export interface Unsupported extends Around {
  readonly kind: "unsupported";
  /** Its first words: `goto`, `open`. */
  readonly construct: string;
  readonly text: string;
}
