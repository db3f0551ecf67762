import { floatOperations } from "../ir/passes/jam.js";
import type { Expr, Stmt } from "../ir/types.js";
import { exprsOf, someExpr, walkExpr } from "../ir/walk.js";

type Loop = Extract<Stmt, { kind: "for" }>;

/** Operations of a turn from which on writing out turns pays. */
const FEWEST_OPERATIONS = 4;

/**
 * Views that a loop reads where its turns are straight and read the same for all elements of a range, as a sum over all bodies does; undefined for other
 * loops. Nothing in such a turn waits but for these loads, which may go ahead of what computes with them.
 */
export function viewsOfSharedTurns(loop: Loop): ReadonlySet<string> | undefined {
  if (loop.body.some(({ kind }) => kind !== "let" && kind !== "assign") || floatOperations(loop.body) < FEWEST_OPERATIONS) return undefined;
  const own = (e: Expr): boolean => e.op === "index" || e.op === "load" || e.op === "element" || (e.op === "local" && e.name !== loop.name);
  const views = new Set<string>();
  let shared = true;
  for (const expr of loop.body.flatMap(exprsOf))
    walkExpr(expr, (node) => {
      if (node.op === "element" || node.op === "table") shared = false;
      if (node.op !== "load") return;
      views.add(node.view);
      if (node.indices.some((index) => someExpr(index, own))) shared = false;
    });
  return shared && views.size > 0 ? views : undefined;
}
