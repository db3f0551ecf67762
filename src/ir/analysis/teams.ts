import type { Expr, KernelIR, Stmt, ViewParam } from "../types.js";
import { blocksOf, exprsOf, hasJump, someExpr, walkStmts } from "../walk.js";

type SharedLoop = Extract<Stmt, { kind: "teamFor" | "teamReduce" }>;

/** True of what members of a team share out, or one of them does: in it each runs for itself, outside of it all run alike. */
export const isShared = (stmt: Stmt): stmt is Extract<Stmt, { kind: "teamFor" | "teamReduce" | "single" }> =>
  stmt.kind === "teamFor" || stmt.kind === "teamReduce" || stmt.kind === "single";

/** True of statements of a member that share work out among its lanes. */
export const usesLanes = (body: readonly Stmt[]): boolean => body.some((stmt) => isShared(stmt) || blocksOf(stmt).some(usesLanes));

/** The loops that lanes of members share, of a team kernel's body. */
export function laneLoops(body: readonly Stmt[]): SharedLoop[] {
  const loops: SharedLoop[] = [];
  walkStmts(body, (stmt) => {
    if (isShared(stmt)) walkStmts(stmt.body, (inner) => void (isShared(inner) && inner.kind !== "single" && loops.push(inner)));
  });
  return loops;
}

/** The views that are teams' scratch of level 1. */
export const teamRows = (ir: KernelIR): (ViewParam & { teamLength: Expr })[] =>
  ir.params.filter((p): p is ViewParam & { teamLength: Expr } => p.kind === "view" && p.teamLength !== undefined);

/**
 * True of a team kernel whose members share out nothing but folds, and no memory, and where nothing that a team knows by itself decides whether
 * it folds or stores: teams side by side would go different ways.
 */
export const onlyFolds = (ir: KernelIR): boolean =>
  teamRows(ir).length === 0 &&
  scratchArrays(ir.body).size === 0 &&
  laneLoops(ir.body).length === 0 &&
  ir.body.every((stmt) => goAlike(stmt, new Set()));

/** `counters`: variables of the loops around, which are alike for all teams. */
function goAlike(stmt: Stmt, counters: ReadonlySet<string>): boolean {
  const all = (list: readonly Stmt[], known = counters): boolean => list.every((inner) => goAlike(inner, known));
  if (stmt.kind === "teamReduce" || stmt.kind === "store") return true;
  if (concernsOne(stmt)) return true;
  if (stmt.kind === "if") return isAlike(stmt.cond, counters) && all(stmt.then) && all(stmt.else);
  return (
    stmt.kind === "for" &&
    isAlike(stmt.start, counters) &&
    isAlike(stmt.stop, counters) &&
    !hasJump(stmt.body) &&
    all(stmt.body, new Set([...counters, stmt.name]))
  );
}

/** A value that is the same for all teams of a launch. */
const isAlike = (e: Expr, counters: ReadonlySet<string>): boolean =>
  !someExpr(
    e,
    (part) => part.op === "index" || part.op === "load" || part.op === "element" || (part.op === "local" && !counters.has(part.name)),
  );

/** True of statements that all members run alike, without work for the team as such: what it shares out, or does once. */
const concernsOne = (stmt: Stmt): boolean =>
  !isShared(stmt) && stmt.kind !== "store" && blocksOf(stmt).every((list) => list.every(concernsOne));

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
