import { define, localOf } from "../../ir/by-name.js";
import { FreshNames } from "../../ir/passes/copy.js";
import { printExpr } from "../../ir/kernel-text.js";

import type { Expr, KernelIR, Stmt } from "../../ir/types.js";
import { mapExpr, mapStmts, someExpr, walkExprs, changedIn } from "../../ir/walk.js";

/** Values of fields that are kept in registers while a loop runs along the particles of a cell; where there are more, they stay in memory. */
const MOST_KEPT = 64;

/**
 * Reads the values that all particles of a cell find in fields once, before the loop along the particles: compilers cannot, for all they know the
 * loop may write there.
 *
 * @param fields view parameters that are fields
 */
export function readCellOnce(ir: KernelIR, fields: { has(param: string): boolean }): KernelIR {
  const at = ir.body.findIndex((stmt) => stmt.kind === "for");
  const loop = ir.body[at];
  if (loop?.kind !== "for") return ir;
  const written = changedIn(ir.body, "view");
  /** Nothing in it changes from particle to particle. */
  const isOfCell = (index: Expr): boolean =>
    !someExpr(index, ({ op }) => op === "local" || op === "load" || op === "element" || op === "table");
  const names = new FreshNames(ir);
  const kept = new Map<string, Stmt & { kind: "let" }>();
  walkExprs(loop.body, (node) => {
    if (node.op !== "load" || !fields.has(node.view) || written.has(node.view) || !node.indices.every(isOfCell)) return;
    const key = printExpr(node);
    if (!kept.has(key)) kept.set(key, define(names.fresh(`${node.view}_here`), node, loop.location) as Stmt & { kind: "let" });
  });
  if (kept.size === 0 || kept.size > MOST_KEPT) return ir;
  const expr = (node: Expr): Expr => {
    const known = node.op === "load" ? kept.get(printExpr(node)) : undefined;
    return known ? localOf(known.name, node.type) : node;
  };
  const body = mapStmts(loop.body, { expr: (root) => mapExpr(root, expr) });
  return { ...ir, body: [...ir.body.slice(0, at), ...kept.values(), { ...loop, body }, ...ir.body.slice(at + 1)] };
}
