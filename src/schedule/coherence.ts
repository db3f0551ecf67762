import type { KernelIR, Stmt } from "../ir/types.js";
import { blocksOf, exprsOf, someExpr, changeOf, changedIn, isLoop } from "../ir/walk.js";

/**
 * Views that a thread may read after it has written them. Where such a read and one of a `const __restrict__` view meet, as in
 * `c ? y[i] : table[3]`, NVRTC 12 and 13 choose between the addresses and load through the read-only cache, which does not know of the
 * thread's own writes. Read-only views of the same element type must then do without `__restrict__`.
 */
export function readAfterWrite(ir: KernelIR): Set<string> {
  const written = new Set<string>();
  const found = new Set<string>();
  visit(ir.body, written, found);
  return found;
}

function visit(stmts: readonly Stmt[], written: Set<string>, found: Set<string>): void {
  for (const stmt of stmts) {
    if (isLoop(stmt)) for (const view of changedIn([stmt], "view")) written.add(view);
    for (const view of written)
      if (exprsOf(stmt).some((expr) => someExpr(expr, (node) => node.op === "load" && node.view === view))) found.add(view);
    for (const block of blocksOf(stmt)) visit(block, written, found);
    const change = changeOf(stmt);
    if (change?.kind === "view") written.add(change.name);
  }
}
