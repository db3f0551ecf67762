import type { Expr, KernelIR, Stmt } from "../types.js";
import { blocksOf, exprsOf, hasChecks, hasJump, mapBlocks, mapStmts, someExpr, walkExprs, changeOf } from "../walk.js";

/** Removes locals and private arrays that nothing reads, with the assignments to them, and what that leaves empty. Expressions but those that check an index have no side effects. */
export function removeDead(ir: KernelIR): KernelIR {
  const read = new Set<string>();
  walkExprs(ir.body, (node, stmt) => {
    // `x = x + 1` alone does not keep x.
    const change = changeOf(stmt);
    const own = change?.kind === "local" || change?.kind === "array" ? change.name : undefined;
    if (node.op === "local" && node.name !== own) read.add(node.name);
    if (node.op === "element" && node.array !== own) read.add(node.array);
  });
  let removed = false;
  const body = mapStmts(ir.body, {
    stmt: (stmt) => {
      const dead =
        ((stmt.kind === "let" || stmt.kind === "assign" || stmt.kind === "array") && !read.has(stmt.name)) ||
        (stmt.kind === "setElement" && !read.has(stmt.array)) ||
        (stmt.kind === "if" && stmt.then.length + stmt.else.length === 0) ||
        (stmt.kind === "for" && stmt.body.length === 0);
      if (!dead || exprsOf(stmt).some(hasChecks)) return stmt;
      removed = true;
      return [];
    },
  });
  return removed ? removeDead({ ...ir, body }) : ir;
}

/**
 * Removes first values that are never read: `let x = 0; ...; x = e` in one block becomes `...; let x = e`, and of two assignments
 * without a read between them the first goes.
 */
export function removeOverwritten(ir: KernelIR): KernelIR {
  return { ...ir, body: cleanBlock(ir.body) };
}

function cleanBlock(stmts: readonly Stmt[]): Stmt[] {
  const block = stmts.map((stmt) => mapBlocks(stmt, cleanBlock));
  const dropped = new Set<Stmt>();
  block.forEach((stmt, at) => {
    if (stmt.kind !== "let" && stmt.kind !== "assign") return;
    const next = block.findIndex((later, n) => n > at && mentions(later, stmt.name));
    const second = block[next];
    if (second?.kind !== "assign" || second.name !== stmt.name || reads(second.value, stmt.name)) return;
    // A jump could lead to a read of the first value; that of a `let` is out of scope there.
    if (stmt.kind === "assign" && hasJump(block.slice(at, next))) return;
    dropped.add(stmt);
    if (stmt.kind === "let") block[next] = { kind: "let", name: stmt.name, type: stmt.type, init: second.value, location: second.location };
  });
  return block.filter((stmt) => !dropped.has(stmt));
}

const reads = (expr: Expr, name: string): boolean => someExpr(expr, (node) => node.op === "local" && node.name === name);

const mentions = (stmt: Stmt, name: string): boolean =>
  (stmt.kind === "assign" && stmt.name === name) ||
  exprsOf(stmt).some((expr) => reads(expr, name)) ||
  blocksOf(stmt).some((block) => block.some((inner) => mentions(inner, name)));

/** Removes tables that no code reads. */
export function removeUnusedTables(ir: KernelIR): KernelIR {
  const used = new Set<string>();
  walkExprs(ir.body, (node) => {
    if (node.op === "table") used.add(node.table);
  });
  return { ...ir, tables: ir.tables.filter((table) => used.has(table.name)) };
}
