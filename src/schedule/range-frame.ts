import type { Identifier, Names } from "../base/names.js";
import type { NumericType } from "../ir/types.js";
import type { Body } from "./body.js";
import type { StmtOf } from "./frame.js";
import type { Expr, Memory } from "./nodes.js";
import type { Output } from "./output.js";

/** A schedule of a range's elements, for what puts statements of several elements or threads. */
export interface RangeFrame {
  readonly out: Output;
  readonly names: Names;
  readonly body: Body;
  readonly indexNames: readonly Identifier[];
  readonly shape: { readonly threads: number };
  begin(axis: number): Expr;
  end(axis: number): Expr;
  /** Whether an index of the last axis is in the range, where threads may begin before it. */
  inRow(at?: Expr): Expr;
  sharedArray(name: Identifier, type: NumericType, length: number): Memory;
  store(body: Body, stmt: StmtOf<"store">, offset: Expr, value: Expr): void;
}
