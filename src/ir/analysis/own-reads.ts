import type { Stmt } from "../types.js";
import { walkExprs } from "../walk.js";

/** Views of `rank` axes whose own element (the one at its own indices) each element of a range reads. */
export function ownReads(body: readonly Stmt[], rank: number): ReadonlySet<string> {
  const views = new Set<string>();
  walkExprs(body, (node) => {
    if (
      node.op === "load" &&
      node.indices.length === rank &&
      node.indices.every((index, axis) => index.op === "index" && index.axis === axis)
    )
      views.add(node.view);
  });
  return views;
}
