import type { Problem } from "../errors.js";
import type { DoConcurrent, Expr } from "../tree/index.js";
import { argumentsOf, variableName, visitExpr } from "./walk.js";
import { text } from "./writes.js";

/**
 * Why a `forall` is more than loops whose iterations need no order: its right sides count as they were before. Undefined if each iteration reads no
 * element of what is assigned but its own, and of `do concurrent`.
 */
export function orderOfForall({ forall, body, mask }: DoConcurrent): Problem | undefined {
  if (!forall) return undefined;
  const own = new Map<string, string>();
  let found: Problem | undefined;
  const look = (e: Expr): boolean | void => {
    if (e.kind !== "name" && e.kind !== "part" && e.kind !== "apply") return;
    const wanted = own.get(variableName(e));
    if (wanted === undefined) return;
    if (wanted !== text(e))
      found = {
        at: e.at,
        construct: variableName(e),
        why: "forall assigns it, and reads other elements of it",
        remedy: "assign to another array first",
      };
    return false;
  };
  for (const stmt of body) {
    if (stmt.kind === "assign" && stmt.target.kind === "apply") {
      look(stmt.target);
      own.set(variableName(stmt.target), text(stmt.target));
    } else if (stmt.kind !== "comment")
      return { at: stmt.at, construct: "forall", why: "it contains more than assignments to elements", remedy: "write do loops" };
  }
  for (const stmt of body)
    if (stmt.kind === "assign" && stmt.target.kind === "apply")
      for (const e of [stmt.value, ...(mask ? [mask] : []), ...argumentsOf(stmt.target.args)]) visitExpr(e, look);
  return found;
}
