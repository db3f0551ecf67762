import type { Stmt } from "../types.js";
import { blocksOf, changedIn, declares, exprsOf, isLoop, walkExpr, walkStmts } from "../walk.js";

/** The most that turns of loops have at a time, inner loops left out. */
interface Turns {
  /** Values that one reads from views, at most. */
  readonly loads: number;
  /** Numbers that one changes for the turns after it, such as sums, at most: locals, elements of private arrays, and results of folds. */
  readonly kept: number;
}

/** The most that turns of a body's loops have; nothing without loops. */
export function turnsOf(body: readonly Stmt[]): Turns {
  const lengths = new Map<string, number>();
  walkStmts(body, (stmt) => void (stmt.kind === "array" && lengths.set(stmt.name, stmt.space === "private" ? stmt.length : 0)));
  const turns = { loads: 0, kept: 0 };
  walkStmts(body, (stmt) => {
    if (!isLoop(stmt)) return;
    for (const block of blocksOf(stmt)) {
      turns.loads = Math.max(turns.loads, loadsOutsideLoops(block));
      turns.kept = Math.max(turns.kept, keptBy(block, lengths));
    }
  });
  return turns;
}

function loadsOutsideLoops(body: readonly Stmt[]): number {
  let loads = 0;
  for (const stmt of body) {
    for (const expr of exprsOf(stmt)) walkExpr(expr, ({ op }) => void (loads += op === "load" ? 1 : 0));
    if (!isLoop(stmt)) for (const block of blocksOf(stmt)) loads += loadsOutsideLoops(block);
  }
  return loads;
}

function keptBy(block: readonly Stmt[], lengths: ReadonlyMap<string, number>): number {
  const changed = changedIn(block, "local", "array");
  walkStmts(block, (stmt) => declares(stmt).forEach((name) => changed.delete(name)));
  const folds = new Set<string>();
  walkStmts(block, (stmt) => {
    if (stmt.kind === "reduce") folds.add(stmt.target);
    if (stmt.kind === "reduceJointly") for (const target of stmt.targets) folds.add(target);
  });
  return [...changed].reduce((sum, name) => sum + (lengths.get(name) ?? 1), folds.size);
}
