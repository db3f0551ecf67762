import type { LocalRef } from "../builder.js";
import type { Expr, Location, Stmt } from "../types.js";
import type { FloatOperation } from "./rules.js";

/*
 * Records of a forward sweep: its active operations in the order in which they run. The tangent follows them at once, the adjoint from the last to the first.
 */

/** A block of code that is run forward and back as a whole: the kernel's body, or a turn of a loop. */
export interface CodeScope {
  /** Declarations before the forward sweep, of locals that branches assign. */
  readonly head: Stmt[];
  /** Declarations between the sweeps, of adjoints. */
  readonly tail: Stmt[];
  readonly outer: CodeScope | undefined;
}

/** Values of the author's locals, and names of private arrays, at a point of the forward sweep. */
export interface Env {
  readonly values: Map<string, Expr>;
  readonly arrays: Map<string, string>;
  /** Loads of views that are not written, by their text. */
  readonly loads: Map<string, Expr>;
}

/** A value that two branches give. */
export interface BranchValue {
  readonly result: LocalRef;
  readonly sides: readonly [Expr, Expr];
}

/** A statement that changes what is outside of the element. */
export type Effect = Extract<Stmt, { kind: "store" | "scatter" | "reduce" | "reduceJointly" }>;

export type LoopStmt = Extract<Stmt, { kind: "for" | "while" }>;

/** A local that a loop reads and assigns. */
export interface CarriedLocal {
  readonly name: string;
  /** Value before the loop. */
  readonly init: Expr;
  /** The local that changes from turn to turn. */
  readonly cell: LocalRef;
  readonly active: boolean;
  /** Private array that keeps values at the beginning of turns. */
  readonly record: string | undefined;
}

/** A private array that a loop reads and that changes in the loop or after it, as it was before the loop. */
export interface Copied {
  readonly name: string;
  readonly copy: string;
  /** Whether the loop itself changes it. */
  readonly changes: boolean;
}

/** The state at the beginning of some turns: each `stride`-th one, `used` in all. */
export interface Slots {
  readonly used: LocalRef;
  readonly stride: LocalRef;
  readonly seen: LocalRef;
}

/** A loop that ran forward. */
interface LoopEntry {
  readonly kind: "loop";
  readonly loop: LoopStmt;
  readonly start: Expr | undefined;
  readonly stop: Expr | undefined;
  readonly carried: readonly CarriedLocal[];
  readonly arrays: readonly Copied[];
  /** Turns of a loop that is not counted. */
  readonly count: LocalRef | undefined;
  readonly slots: Slots | undefined;
  readonly before: Env;
}

type Kinds =
  | { readonly kind: "operation"; readonly node: FloatOperation; readonly args: readonly Expr[]; readonly result: LocalRef }
  | { readonly kind: "load"; readonly view: string; readonly indices: readonly Expr[]; readonly result: LocalRef }
  | { readonly kind: "element"; readonly array: string; readonly index: Expr; readonly result: LocalRef }
  | { readonly kind: "select"; readonly cond: Expr; readonly sides: readonly [Expr, Expr]; readonly result: LocalRef }
  | { readonly kind: "set"; readonly array: string; readonly index: Expr; readonly value: Expr }
  | { readonly kind: "store"; readonly view: string; readonly indices: readonly Expr[]; readonly value: Expr }
  /** A store that the adjoint repeats and takes back: `before` is what was there. */
  | { readonly kind: "repeated"; readonly view: string; readonly indices: readonly Expr[]; readonly before: LocalRef }
  | { readonly kind: "scatter"; readonly target: string; readonly indices: readonly Expr[]; readonly value: Expr }
  | { readonly kind: "reduce"; readonly target: string; readonly value: Expr }
  /** A contribution to a least or greatest value. */
  | { readonly kind: "extreme"; readonly target: string; readonly value: Expr }
  | { readonly kind: "branch"; readonly cond: Expr; readonly joins: readonly BranchValue[]; readonly sides: readonly [Trail, Trail] }
  | LoopEntry;

/** A step of the forward sweep that derivatives pass through. */
export type TrailEntry = Kinds & { readonly at: Location };
export type Trail = readonly TrailEntry[];

/** Whether the trail's entry is of a kind. */
export type EntryOf<K extends TrailEntry["kind"]> = Extract<TrailEntry, { kind: K }>;
