import type { KernelIR, Stmt } from "../types.js";
import { assignedLocals, blocksOf, changeOf, exprsOf, mapExpr, mapStmts, walkExpr, walkStmts } from "../walk.js";

/**
 * Reads a variable in place of its copy: `let t = a; ...; f(t)` becomes `...; f(a)` where neither changes before t is read for the last time. Values of
 * several components, which are copied where they get a name, leave such copies.
 */
export function forwardCopies(ir: KernelIR): KernelIR {
  const assigned = assignedLocals(ir.body);
  const copies = new Map<string, string>();
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "let" && stmt.init?.op === "local" && !assigned.has(stmt.name)) copies.set(stmt.name, stmt.init.name);
  });
  if (copies.size === 0) return ir;
  const originals = new Originals(copies, readsOf(ir.body, copies));
  originals.findIn(ir.body);
  const { found } = originals;
  if (found.size === 0) return ir;
  const body = mapStmts(ir.body, {
    expr: (root) =>
      mapExpr(root, (node) => (node.op === "local" && found.has(node.name) ? { ...node, name: found.get(node.name)! } : node)),
    stmt: (stmt) => (stmt.kind === "let" && found.has(stmt.name) ? [] : stmt),
  });
  return { ...ir, body };
}

/** How often each copy is read. */
function readsOf(block: readonly Stmt[], copies: ReadonlyMap<string, string>): Map<string, number> {
  const reads = new Map<string, number>();
  walkStmts(block, (stmt) => {
    for (const expr of exprsOf(stmt))
      walkExpr(
        expr,
        (node) => void (node.op === "local" && copies.has(node.name) && reads.set(node.name, (reads.get(node.name) ?? 0) + 1)),
      );
  });
  return reads;
}

/** Finds the variables that can be read in place of copies. */
class Originals {
  /** By the copy's name. */
  readonly found = new Map<string, string>();

  constructor(
    private readonly copies: ReadonlyMap<string, string>,
    private readonly reads: ReadonlyMap<string, number>,
  ) {}

  /** From the outermost block inwards, so that copies of copies lead to the first variable. */
  findIn(block: readonly Stmt[]): void {
    if (block.some((stmt) => stmt.kind === "let" && this.copies.has(stmt.name))) this.findAt(block);
    for (const stmt of block) for (const inner of blocksOf(stmt)) this.findIn(inner);
  }

  private findAt(block: readonly Stmt[]): void {
    const each = block.map((stmt) => readsOf([stmt], this.copies));
    const changes = new Map<string, number[]>();
    block.forEach((stmt, at) =>
      walkStmts([stmt], (inner) => {
        const change = changeOf(inner);
        if (change?.kind === "local") changes.set(change.name, [...(changes.get(change.name) ?? []), at]);
      }),
    );
    block.forEach((stmt, at) => {
      const copied = stmt.kind === "let" ? this.copies.get(stmt.name) : undefined;
      if (copied === undefined) return;
      const { name } = stmt as { name: string };
      const original = this.found.get(copied) ?? copied;
      const last = each.findLastIndex((reads) => reads.has(name));
      // Reads elsewhere, as in the last part of a loop, are not followed.
      if (each.reduce((sum, reads) => sum + (reads.get(name) ?? 0), 0) !== (this.reads.get(name) ?? 0)) return;
      // An assignment reads its value before it changes the variable.
      const isLate = (when: number): boolean => when > last || (when === last && block[last]!.kind === "assign");
      if ((changes.get(original) ?? []).every((when) => when <= at || isLate(when))) this.found.set(name, original);
    });
  }
}
