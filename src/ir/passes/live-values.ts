import type { Expr, Stmt } from "../types.js";
import { exprsOf, hasChecks, mapBlocks, walkExpr } from "../walk.js";

/**
 * The statements without values of locals that are replaced before anything reads them. `removeDead` goes by names; this goes by paths, in code
 * without loops and jumps.
 */
export const withoutReplaced = (body: readonly Stmt[]): Stmt[] => new Liveness().block(body);

class Liveness {
  /** Locals whose values are read later on, while statements are visited from the last to the first. */
  private live = new Set<string>();
  /** Locals with assignments that stay: so do their declarations. */
  private readonly assigned = new Set<string>();

  block(stmts: readonly Stmt[]): Stmt[] {
    const kept: Stmt[] = [];
    for (const stmt of stmts.toReversed()) {
      const inner = stmt.kind === "if" ? this.branches(stmt) : this.value(stmt);
      if (inner) kept.push(this.read(inner));
    }
    kept.reverse();
    return kept.length === stmts.length && kept.every((stmt, n) => stmt === stmts[n]) ? (stmts as Stmt[]) : kept;
  }

  /** Undefined where nothing is left in the branches. */
  private branches(stmt: Stmt): Stmt | undefined {
    const after = this.live;
    const all = new Set<string>();
    let left = 0;
    const mapped = mapBlocks(stmt, (block) => {
      this.live = new Set(after);
      const kept = this.block(block);
      left += kept.length;
      for (const name of this.live) all.add(name);
      return kept;
    });
    this.live = all;
    return left > 0 || exprsOf(stmt).some(hasChecks) ? mapped : undefined;
  }

  /** Undefined where nothing reads the value; a declaration is left where others follow. */
  private value(stmt: Stmt): Stmt | undefined {
    if ((stmt.kind !== "let" && stmt.kind !== "assign") || this.live.has(stmt.name) || exprsOf(stmt).some(hasChecks)) return stmt;
    return stmt.kind === "let" && this.assigned.has(stmt.name) ? { ...stmt, init: undefined } : undefined;
  }

  private read(stmt: Stmt): Stmt {
    if (stmt.kind === "assign") this.assigned.add(stmt.name);
    if (stmt.kind === "let" || stmt.kind === "assign") this.live.delete(stmt.name);
    for (const expr of exprsOf(stmt)) walkExpr(expr, (e: Expr) => void (e.op === "local" && this.live.add(e.name)));
    return stmt;
  }
}
