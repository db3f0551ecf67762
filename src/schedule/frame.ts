import type { Expr as KernelExpr, Stmt as KernelStmt } from "../ir/types.js";
import type { Expr, Memory } from "./nodes.js";

/** Statements of the kernel's IR of one kind. */
export type StmtOf<K extends KernelStmt["kind"]> = Extract<KernelStmt, { kind: K }>;

/** Surroundings of a kernel's body in one entry: its indices, arrays and folds. What it puts goes to the output of the body. */
export interface Frame<Body> {
  /** The policy's index along `axis`, of the type `index`. */
  index(axis: number): Expr;
  scalar(name: string): Expr;
  /** An i32. */
  teamSize(): Expr;
  /** An i32. */
  extent(view: string, axis: number): Expr;
  memory(view: string): Memory;
  /** Elements from one index of an axis to the next, by axis: of the type `index`, or `i64` for axes that are far. A constant 1 is left out of offsets. */
  strides(view: string): readonly Expr[];
  /** By axis: the stride has 64 bits, as products with it need, while `index` has 32; the rest of an offset stays below 2^31. */
  far(view: string): readonly boolean[] | undefined;
  /** The value of an element that was read together with its neighbours; undefined for others. */
  readBefore?(load: Extract<KernelExpr, { op: "load" }>): Expr | undefined;
  /** Turns of a loop that the compiler is to write out one after the other; undefined to leave that to it. */
  turnsWrittenOut?(stmt: StmtOf<"for">): number | undefined;
  store(body: Body, stmt: StmtOf<"store">, offset: Expr, value: Expr): void;
  setElement(body: Body, stmt: StmtOf<"setElement">, memory: Memory, offset: Expr, value: Expr): void;
  /** Declares an array and gives it. */
  array(body: Body, stmt: StmtOf<"array">): Memory;
  /** Adds into the element at `offset` of the target. */
  scatter(body: Body, stmt: StmtOf<"scatter">, offset: Expr, value: Expr): void;
  /** Folds into a reduce parameter, or into a result of the enclosing teamReduce. */
  reduce(body: Body, stmt: StmtOf<"reduce">, value: Expr): void;
  /** Folds into reduce parameters that fold jointly. */
  reduceJointly(body: Body, stmt: StmtOf<"reduceJointly">, values: readonly Expr[]): void;
  /** Notes the index `at` as the element's failure at the site, unless the element has failed before. */
  fault(body: Body, site: number, at: Expr): void;
  /** True once an index of the element was outside. */
  failed(): Expr;
  teamFor(body: Body, stmt: StmtOf<"teamFor">): void;
  teamReduce(body: Body, stmt: StmtOf<"teamReduce">): void;
  single(body: Body, stmt: StmtOf<"single">): void;
}
