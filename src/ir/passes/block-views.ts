import type { Expr, KernelIR, Stmt } from "../types.js";
import { mapExpr, mapKernel, mapStmts } from "../walk.js";
import { binary, int } from "../expressions.js";

/** How the first axis of a view or scatter parameter is split. */
export interface FirstAxisSplit {
  /** Elements of one block, a power of two. */
  readonly block: number;
  /** Extent of the axis before. */
  readonly length: number;
}

/**
 * The kernel over views whose first axis is split into blocks: `x[i][d]` becomes `x[i >> k][d][i & (block - 1)]`, of a rank more. Values and
 * their order stay.
 * @param splits by parameter
 */
export function blockViews(ir: KernelIR, splits: ReadonlyMap<string, FirstAxisSplit>): KernelIR {
  const indices = (view: string, given: Expr[]): Expr[] => {
    const split = splits.get(view);
    const [first, ...rest] = given;
    return split && first ? [binary("shr", first, Math.log2(split.block)), ...rest, binary("and", first, split.block - 1)] : given;
  };
  const node = (e: Expr): Expr => {
    if (e.op === "load") return { ...e, indices: indices(e.view, e.indices) };
    const split = e.op === "extent" && e.axis === 0 ? splits.get(e.view) : undefined;
    return split ? int(split.length) : e;
  };
  const expr = (e: Expr): Expr => mapExpr(e, node);
  const stmt = (s: Stmt): Stmt => {
    if (s.kind === "store") return { ...s, indices: indices(s.view, s.indices) };
    return s.kind === "scatter" || s.kind === "atomic" ? { ...s, indices: indices(s.target, s.indices) } : s;
  };
  const mapped = (body: readonly Stmt[]) => mapStmts(body, { expr, stmt });
  const split = mapKernel(ir, mapped, expr);
  return {
    ...split,
    ...(ir.checks && { checks: { ...ir.checks, unchecked: mapped(ir.checks.unchecked) } }),
    params: split.params.map((p) => ((p.kind === "view" || p.kind === "scatter") && splits.has(p.name) ? { ...p, rank: p.rank + 1 } : p)),
  };
}
