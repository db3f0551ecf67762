/**
 * The typed intermediate representation of one kernel.
 *
 * It is a tree with structured control flow: every target (JavaScript, WebAssembly, C, CUDA) has `if`, loops, `break` and
 * `continue`, so nothing is lost by not going to basic blocks, and the emitted code keeps the loops of the source. Early returns
 * and helper calls are gone: lowering turned them into plain control flow. Expressions have no side effects.
 */

import type { Location } from "../base/location.js";
import type { BinaryFn, CompareFn, MathFn, PlainValue, UnaryFn } from "./operators.js";
import type { ElementType, NumericType, ScalarType } from "./scalars.js";

export type { Location } from "../base/location.js";
export type { BinaryFn, CompareFn, MathFn, PlainValue, UnaryFn } from "./operators.js";
export type { ElementType, NumberElement, NumberType, NumericType, ScalarType, WideType } from "./scalars.js";

/** Operation of a reduction; `custom` is a function of the author's, `joint` a fold of several parameters at once. */
export type ReduceOp = "sum" | "min" | "max" | "custom" | "joint";
/** Operation of a scatter. */
export type ScatterOp = "sum" | "min" | "max";

/** An operation on one element of an array that no other comes between; `load` alone has no value. */
export type AtomicFn = "add" | "min" | "max" | "and" | "or" | "xor" | "exchange" | "compareExchange" | "load";
/** The types of elements with such operations. */
export type AtomicType = "i32" | "u32";

/** A parameter that is one value. */
export interface ScalarParam {
  kind: "scalar";
  name: string;
  type: ScalarType;
}

/** A parameter that is an array. */
export interface ViewParam {
  kind: "view";
  name: string;
  element: ElementType;
  /** 1 to 7 */
  rank: number;
  /** The author asserts that no two elements of the range write one location; js-debug checks it. */
  disjoint: boolean;
  /** Its elements are reached by `atomic` statements, and by nothing else. */
  atomic?: true;
  /** Axes whose indices are right by construction, and are not checked: of fields, those along which a grid's own code indexes. */
  trusted?: readonly number[];
  /** Length of scratch of level 1, which a launch allocates: a row for each team that runs at a time. An expression of scalars and extents. */
  teamLength?: Expr;
  /** By axis: the bounds that the author of an array of another language has declared, such as Fortran's. Messages count as the author does. */
  bounds?: readonly DeclaredBounds[];
}

/** First and last index of a view's axis by its author's count. The view itself counts from 0. */
export interface DeclaredBounds {
  /** The author's number of the axis. */
  readonly axis: number;
  /** The index of the first element. Like `upper`, an i32 of scalars, extents and constants. */
  readonly lower: Expr;
  /** The index of the last one, where it is declared. */
  readonly upper?: Expr;
}

/** An array that many elements add into. It is not read by the kernel. */
export interface ScatterParam {
  kind: "scatter";
  name: string;
  element: NumericType;
  rank: number;
  op: ScatterOp;
}

/** One result folded over all elements of the range. */
export interface ReduceParam {
  kind: "reduce";
  name: string;
  type: NumericType;
  op: ReduceOp;
  identity: number | bigint;
  /** For `custom`: the fold of locals `a` and `b`, an expression over just these two. */
  combine?: { a: string; b: string; body: Expr };
  /** For `joint`: the fold of this parameter and others, the same for each of them. */
  joint?: JointFold;
  /** The container's parameter with several components to which this belongs, and the component. */
  part?: { readonly of: string; readonly component: number };
}

/** The fold of several reduce parameters at once, such as a least value and the place that has it. */
export interface JointFold {
  /** Names of the parameters, neighbours in the kernel's list. */
  readonly parts: readonly string[];
  /** Locals that hold the parts of the two values to fold, earlier elements first. */
  readonly a: readonly string[];
  readonly b: readonly string[];
  /** By part: an expression over just these locals. */
  readonly bodies: readonly Expr[];
}

/** A parameter of a kernel. */
export type Param = ScalarParam | ViewParam | ScatterParam | ReduceParam;

/** A constant table, read with run-time indices; constant indices have been folded away. Row-major. */
export interface Table {
  name: string;
  type: NumericType;
  shape: number[];
  /** Bigints for i64 and u64. */
  values: (number | bigint)[];
}

/** A kernel as the compiler sees it: parameters, tables and statements (docs/ir.md). */
export interface KernelIR {
  name: string;
  /** `range`: the body runs once for each index tuple; `team`: once for each team, its inner loops shared by the team's members. */
  policy: { kind: "range"; rank: number } | { kind: "team" };
  params: Param[];
  tables: Table[];
  body: Stmt[];
  location: Location;
  /** Present in code whose indices are checked while it runs; see `passes/check-indices.ts`. */
  checks?: Checks;
  /** Present in code that records what it prints; see `passes/record-prints.ts`. */
  prints?: Prints;
}

/** Views in which code records the lines that it prints. */
export interface Prints {
  /** A view of i32 with one element: how many lines have been printed, those without a place included. */
  readonly count: string;
  /** Views with a row for each line: words (the number of the site, then integers and truth values), and floats by type. */
  readonly rows: Readonly<Record<PrintedType, { readonly view: string; readonly width: number } | undefined>>;
  /** By number of the site: its items, of values where they stand. */
  readonly sites: readonly (readonly (string | PrintedValue)[])[];
}

/** The types of rows. */
export type PrintedType = "i32" | "f32" | "f64";

/** A value in the row of its type. */
export interface PrintedValue {
  readonly type: ScalarType;
  readonly at: number;
}

/** How code with checked indices says that one was outside. */
export interface Checks {
  /** A view of i32 that takes the first failure, see `FAULT`. */
  readonly record: string;
  /** Accesses of the kernel; `unproved` of them have an index that is checked. */
  readonly accesses: number;
  readonly unproved: number;
  /** Places at which an index is checked, by number. */
  readonly sites: readonly CheckSite[];
  /** The body without checks: right for an element with all indices inside. */
  readonly unchecked: readonly Stmt[];
  /** Axes before those that are recorded of an element: 1 in code for owners (`passes/owners.ts`). */
  readonly outerAxes?: 1;
}

/** A place where an index is checked while the kernel runs. */
export interface CheckSite {
  readonly kind: "read" | "write" | "scatter" | "atomic";
  /** The array, and the access as it was written: `x[at[i]]`. */
  readonly array: string;
  readonly text: string;
  readonly axis: number;
  readonly location: Location;
}

/** An expression. It has a type and no side effects (docs/ir.md). */
export type Expr =
  | { op: "const"; type: ScalarType; value: PlainValue }
  /** A local variable, a loop variable or a member index of a team. Names are unique in the kernel. */
  | { op: "local"; type: ScalarType; name: string }
  | { op: "param"; type: ScalarType; name: string }
  /**
   * Index of the range's element along `axis`; for a team kernel, axis 0 is the team's rank in the league, axis 1 its place among the teams
   * that run at a time, for rows of scratch.
   */
  | { op: "index"; type: "i32"; axis: number }
  /** Number of members in the team; 1 on devices that run a team on one worker. */
  | { op: "teamSize"; type: "i32" }
  | { op: "load"; type: NumericType; view: string; indices: Expr[]; location?: Location }
  /** An element of a private or scratch array. */
  | { op: "element"; type: NumericType; array: string; index: Expr; location?: Location }
  | { op: "table"; type: NumericType; table: string; indices: Expr[]; location?: Location }
  /** Extent of a view or scatter array along `axis`. */
  | { op: "extent"; type: "i32"; view: string; axis: number }
  /**
   * `wraps`: the author wrote that an integer result is cut to 32 bits, so that js-debug reports neither overflow nor division by zero.
   * `exact`: only at the top of a loop's `stop` (see `inclusiveStop`), where the sum is one beyond the last value and may be 2^31 or -2^31 - 1.
   */
  | { op: "unary"; type: ScalarType; fn: UnaryFn; a: Expr; wraps?: true }
  | { op: "binary"; type: ScalarType; fn: BinaryFn; a: Expr; b: Expr; wraps?: true; exact?: true }
  | { op: "compare"; type: "bool"; fn: CompareFn; a: Expr; b: Expr }
  /** Short circuit: `b` is evaluated only where `a` does not decide. */
  | { op: "logical"; type: "bool"; fn: "and" | "or"; a: Expr; b: Expr }
  /** Only the chosen side is evaluated. */
  | { op: "select"; type: ScalarType; cond: Expr; a: Expr; b: Expr }
  | { op: "cast"; type: ScalarType; a: Expr }
  | { op: "call"; type: NumericType; fn: MathFn; args: Expr[] }
  /**
   * The index, where it is at least 0 and below `extent`. Elsewhere the element has failed at `site`: its first failure is recorded, and the value
   * is `otherwise`.
   */
  | { op: "checked"; type: "i32"; index: Expr; extent: Expr; otherwise: 0 | -1; site: number }
  /** True once an index of this element was outside. */
  | { op: "failed"; type: "bool" };

/** A statement (docs/ir.md). */
export type Stmt =
  /** Declares a local. Without `init` it is undefined until assigned (js-debug reports a read). */
  | { kind: "let"; name: string; type: ScalarType; init?: Expr; location: Location }
  | { kind: "assign"; name: string; value: Expr; location: Location }
  /** Declares an array of constant length. `private` ones start at zero each time the statement runs; `scratch` ones, shared by the team, start undefined; `disjoint` asserts of these that no two members touch one element between two barriers, where one writes. */
  | { kind: "array"; name: string; type: NumericType; length: number; space: "private" | "scratch"; disjoint?: true; location: Location }
  | { kind: "setElement"; array: string; index: Expr; value: Expr; location: Location }
  | { kind: "store"; view: string; indices: Expr[]; value: Expr; location: Location }
  | { kind: "scatter"; target: string; indices: Expr[]; value: Expr; location: Location }
  /** Folds `value` into a reduce parameter, or into a result of the enclosing teamReduce. */
  | { kind: "reduce"; target: string; value: Expr; location: Location }
  /** Folds values into reduce parameters that fold jointly, one into each. */
  | { kind: "reduceJointly"; targets: readonly string[]; values: Expr[]; location: Location }
  /**
   * Replaces an element by what `fn` makes of it and of `value`, and declares `result` as the value before. `compareExchange` stores `value` where the element
   * is `expected`.
   */
  | {
      kind: "atomic";
      target: string;
      indices: Expr[];
      fn: AtomicFn;
      type: AtomicType;
      value?: Expr;
      expected?: Expr;
      result?: string;
      location: Location;
    }
  /** Prints a line of its items, with a space between each two. `site` is its number in code that records lines (`passes/record-prints.ts`). */
  | { kind: "print"; items: (string | Expr)[]; site?: number; location: Location }
  | { kind: "if"; cond: Expr; then: Stmt[]; else: Stmt[]; location: Location }
  /**
   * Counted loop: `name` (i32) runs from `start` by constant `step` while below (above, if step < 0) `stop`; not assigned in the body; `stop` does not
   * change. The step never wraps: a loop whose next value would leave i32 has ended.
   */
  | { kind: "for"; name: string; start: Expr; stop: Expr; step: number; body: Stmt[]; location: Location }
  /** Any other loop. `update` runs after the body and after `continue`. */
  | { kind: "while"; cond: Expr; body: Stmt[]; update: Stmt[]; location: Location }
  | { kind: "break"; location: Location }
  | { kind: "continue"; location: Location }
  /*
   * Team kernels only. Outside of these three, every member runs the same statements with the same values, and stores happen once.
   * All members have passed one of them before any member goes on (there is a barrier after each).
   */
  /**
   * Members share out `name` = 0 .. count-1. Inside of such a loop, of either kind, another one belongs to the member's lanes: they run the
   * same statements outside of it, where stores happen once, and all have passed it before any goes on.
   */
  | { kind: "teamFor"; name: string; count: Expr; body: Stmt[]; location: Location }
  /** The same, with results: each is a new local, known to all members afterwards, folded by `reduce` statements in the body. */
  | { kind: "teamReduce"; name: string; count: Expr; results: TeamResult[]; body: Stmt[]; location: Location }
  /** One member runs the body. */
  | { kind: "single"; body: Stmt[]; location: Location };

/** One of the results of a `teamReduce`. */
export interface TeamResult {
  name: string;
  type: NumericType;
  op: ScatterOp;
}

/** The order of strict reductions, one rule for all backends (see docs/determinism.md). */
export const REDUCTION_LANES = 8;
/** Elements that one partial result of a strict reduction covers. */
export const REDUCTION_CHUNK = 256;
