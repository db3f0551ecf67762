import type { Stmt } from "../../ir/types.js";

export type WgslStmtOf<K extends Stmt["kind"]> = Extract<Stmt, { kind: K }>;

/**
 * Surroundings of a kernel's body in one shader: its indices, views and folds. Statements are written through `body`:
 * `body.code` takes lines, `body.value(expr)` and `body.statements(list)` emit what is inside.
 */
export interface ShaderFrame<Body> {
  /** The policy index along `axis`, an i32. */
  index(axis: number): string;
  teamSize(): string;
  extent(view: string, axis: number): string;
  scalar(name: string): string;
  /** Element strides of a view or scatter array: i32 terms; `1` is left out of addresses. */
  strides(view: string): readonly string[];
  /** Elements from the start of the buffer to the view's first; undefined for none. */
  base(view: string): string | undefined;
  /** The element at `offset`; `u8` as an i32. */
  load(view: string, offset: string): string;
  /** Writes a store, once where a team runs it. */
  store(body: Body, stmt: WgslStmtOf<"store">, offset: string, value: string): void;
  /** An expression that does an atomic operation on the element at `offset`, and gives what was there. */
  fetch(stmt: WgslStmtOf<"atomic">, offset: string, operands: readonly string[]): string;
  setElement(body: Body, stmt: WgslStmtOf<"setElement">, place: string, value: string): void;
  array(body: Body, stmt: WgslStmtOf<"array">): void;
  /** The identifier of a private or scratch array. */
  arrayName(body: Body, name: string): string;
  scatter(body: Body, stmt: WgslStmtOf<"scatter">, offset: string, value: string): void;
  reduce(body: Body, stmt: WgslStmtOf<"reduce">, value: string): void;
  /** Folds into reduce parameters that fold jointly. */
  reduceJointly(body: Body, stmt: WgslStmtOf<"reduceJointly">, values: readonly string[]): void;
  /** Records a line. */
  print(body: Body, stmt: WgslStmtOf<"print">): void;
  /** The text of a value that decides where control goes, written so that the compiler knows it to be the same for the workgroup. */
  uniform(body: Body, stmt: Stmt, type: "bool" | "i32", value: string): string;
  /** Notes the index `at`, which is outside, as the element's failure at the site if that is its first. */
  fault(body: Body, site: number, at: string): void;
  /** True once an index of the element was outside. */
  failed(): string;
  teamFor(body: Body, stmt: WgslStmtOf<"teamFor">): void;
  teamReduce(body: Body, stmt: WgslStmtOf<"teamReduce">): void;
  single(body: Body, stmt: WgslStmtOf<"single">): void;
}
