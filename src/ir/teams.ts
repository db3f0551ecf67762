import type { Stmt } from "./types.js";
import { blocksOf, exprsOf, someExpr, walkStmts } from "./walk.js";

/** True of what members of a team share out, or one of them does: in it each runs for itself, outside of it all run alike. */
export const isShared = (stmt: Stmt): stmt is Extract<Stmt, { kind: "teamFor" | "teamReduce" | "single" }> =>
  stmt.kind === "teamFor" || stmt.kind === "teamReduce" || stmt.kind === "single";

/** The names of a kernel's scratch arrays. */
export function scratchArrays(body: readonly Stmt[]): Set<string> {
  const names = new Set<string>();
  walkStmts(body, (stmt) => {
    if (stmt.kind === "array" && stmt.space === "scratch") names.add(stmt.name);
  });
  return names;
}

/** True if something outside of shared statements reads memory that the team may change: views that it writes, and `scratch`. */
export const readsOutside = (body: readonly Stmt[], writes: (view: string) => boolean, scratch: ReadonlySet<string>): boolean =>
  body.some(
    (stmt) =>
      exprsOf(stmt).some((expr) =>
        someExpr(expr, (e) => (e.op === "load" && writes(e.view)) || (e.op === "element" && scratch.has(e.array))),
      ) ||
      (!isShared(stmt) && blocksOf(stmt).some((block) => readsOutside(block, writes, scratch))),
  );
