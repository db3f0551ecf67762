import type { Expr, Stmt } from "../../ir/types.js";
import { assignedLocals, declares, sizeOf, walkExprs, walkStmts } from "../../ir/walk.js";
import type { Variance } from "./variance.js";

type Loop = Extract<Stmt, { kind: "for" }>;

const PLAIN: ReadonlySet<Stmt["kind"]> = new Set(["let", "assign", "store", "setElement"]);

/** Vectors that the registers of an x86 hold beside what one turn of a loop computes. */
const REGISTERS = 8;

/** Statements and expressions of a body from which on a turn needs the registers for itself. */
const MOST_NODES = 160;

/**
 * Number of vectors of elements that go side by side through the loops inside a body, 1 for one after the other: what a turn reads for all of them is
 * read once, their neighbouring elements come from one stretch of memory, and none waits for another's sum. All elements must take the same turns, and
 * `isContiguous` must be true of each load that differs between them.
 */
export function vectorsSideBySide(body: readonly Stmt[], variance: Variance, isContiguous: (load: Expr) => boolean): number {
  const loops: Loop[] = [];
  let plain = sizeOf(body) <= MOST_NODES;
  walkStmts(body, (stmt) => {
    if (stmt.kind === "for" && !variance.isDivergent(stmt)) loops.push(stmt);
    else if (!PLAIN.has(stmt.kind)) plain = false;
  });
  walkExprs(body, (e) => {
    if (!variance.varies(e)) return;
    if (e.op === "call" || ((e.op === "load" || e.op === "element") && !isContiguous(e))) plain = false;
  });
  if (!plain || loops.length === 0) return 1;
  const most = Math.max(1, ...loops.map((loop) => carriedBy(loop, variance)));
  return [8, 4, 2].find((count) => count * most <= REGISTERS) ?? 1;
}

/** Number of values of an element that are kept in registers while a loop runs. */
function carriedBy(loop: Loop, variance: Variance): number {
  const names = assignedLocals(loop.body);
  walkExprs(loop.body, (e) => void (e.op === "local" && names.add(e.name)));
  walkStmts(loop.body, (stmt) => declares(stmt).forEach((name) => names.delete(name)));
  return [...names].filter((name) => variance.isVarying(name)).length;
}
