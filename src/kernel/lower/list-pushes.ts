import { KernelError } from "../../base/errors.js";
import { ElementRefs, mayAlias, type ElementRef } from "../../ir/passes/forward-stores.js";
import type { Expr, KernelIR, Stmt } from "../../ir/types.js";
import { blocksOf, exprsOf, hasJump, isLoop, walkExpr, walkStmts } from "../../ir/walk.js";
import type { LoweredList } from "./lists.js";

/* Questions about code with lists: how often an element appends, and whether what it appends depends on its own stores. */

/** How often a loop runs, where that is constant. */
function tripsOf(stmt: Stmt): number | undefined {
  if (stmt.kind !== "for" || stmt.start.op !== "const" || stmt.stop.op !== "const") return undefined;
  return Math.max(0, Math.ceil((Number(stmt.stop.value) - Number(stmt.start.value)) / stmt.step));
}

/** The greatest number of calls of an element that can be seen in the code; Infinity where a loop has an unknown end. */
export function mostPushes(block: readonly Stmt[], at: string): number {
  return block.reduce((sum, stmt) => {
    if (stmt.kind === "assign" && stmt.name === at) return sum + 1;
    const inner = blocksOf(stmt).map((each) => mostPushes(each, at));
    const most = Math.max(0, ...inner);
    return sum + (most > 0 && isLoop(stmt) ? most * (tripsOf(stmt) ?? Infinity) : most);
  }, 0);
}

/** Throws KernelError for a list to which an element certainly appends more often than it says, wherever it reaches some block. */
export function refuseSurplus(ir: KernelIR, { at, most, name, type }: LoweredList): void {
  const certain = (block: readonly Stmt[]): number => {
    let sum = 0;
    let ended = false;
    for (const stmt of block) {
      const inner = blocksOf(stmt).map(certain);
      if (ended) continue;
      const trips = tripsOf(stmt);
      if (stmt.kind === "assign" && stmt.name === at) sum++;
      else if (stmt.kind === "if") sum += Math.min(...inner);
      else if (trips !== undefined && !hasJump(inner.length > 0 ? blocksOf(stmt)[0] : [])) sum += trips * inner[0];
      if (sum > most)
        throw new KernelError(
          ir.name,
          stmt.location,
          `an element appends to ${name} ${sum} times here, and the list takes ${most} of each`,
          `declare list(${type}, ${sum})`,
        );
      ended = !isLoop(stmt) && hasJump([stmt]);
    }
    return sum;
  };
  certain(ir.body);
}

/** A place whose indices that depend on counters, or on other locals, may be anything. */
const ofAnyTurn = (ref: ElementRef): ElementRef => ({
  ...ref,
  indices: ref.indices.map((form) => (form && Object.keys(form.terms).some((atom) => atom.startsWith("local:")) ? undefined : form)),
});

/** Loads of places that the same element may have stored into before, each with its statement. */
export function loadsAfterStores(ir: KernelIR, except: ReadonlySet<string>): ReadonlyMap<Expr, Stmt> {
  const found = new Map<Expr, Stmt>();
  const refs = new ElementRefs(ir);
  const stored: ElementRef[] = [];
  const note = (stmt: Stmt, asPlace = (ref: ElementRef): ElementRef => ref): void => {
    if (stmt.kind === "store" && !except.has(stmt.view)) stored.push(asPlace(refs.any(stmt.view, stmt.indices)));
  };
  const visit = (block: readonly Stmt[]): void => {
    for (const stmt of block) {
      // A later turn of a loop reads after all stores of an earlier one, whose counters had other values.
      if (isLoop(stmt)) walkStmts([stmt], (inner) => note(inner, ofAnyTurn));
      for (const expr of exprsOf(stmt))
        walkExpr(expr, (node) => {
          if (node.op !== "load" || stored.length === 0) return;
          const ref = refs.any(node.view, node.indices);
          if (stored.some((each) => mayAlias(each, ref))) found.set(node, stmt);
        });
      blocksOf(stmt).forEach(visit);
      note(stmt);
    }
  };
  visit(ir.body);
  return found;
}
