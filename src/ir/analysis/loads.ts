import type { Stmt } from "../types.js";
import { blocksOf, exprsOf, isLoop, walkExpr } from "../walk.js";

/** The most values that one turn of a loop reads, inner loops left out; 0 without loops. */
export function loadsOfTurn(body: readonly Stmt[]): number {
  let most = 0;
  for (const stmt of body) {
    const blocks = blocksOf(stmt);
    most = Math.max(most, ...blocks.map(loadsOfTurn));
    if (isLoop(stmt)) most = Math.max(most, ...blocks.map(loadsOutsideLoops));
  }
  return most;
}

function loadsOutsideLoops(body: readonly Stmt[]): number {
  let loads = 0;
  for (const stmt of body) {
    for (const expr of exprsOf(stmt)) walkExpr(expr, ({ op }) => void (loads += op === "load" ? 1 : 0));
    if (!isLoop(stmt)) for (const block of blocksOf(stmt)) loads += loadsOutsideLoops(block);
  }
  return loads;
}
