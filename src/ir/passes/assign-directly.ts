import type { KernelIR, Stmt } from "../types.js";
import { assignedLocals, exprsOf, mapBlocks, walkExpr, walkStmts } from "../walk.js";

/**
 * Gives values to variables where they are computed: `let t = e; ...; a = t` becomes `a = e; ...` where nothing else reads t, and nothing between mentions a;
 * `let t = e; ...; let a = t` becomes `let a = e; ...`.
 * So `v = v.add(w)` of vectors, whose components are all computed before the first changes, is the code that one writes by hand.
 */
export function assignDirectly(ir: KernelIR): KernelIR {
  const assigned = assignedLocals(ir.body);
  if (assigned.size === 0) return ir;
  const reads = new Map<string, number>();
  walkStmts(ir.body, (stmt) => {
    for (const expr of exprsOf(stmt))
      walkExpr(expr, (node) => void (node.op === "local" && reads.set(node.name, (reads.get(node.name) ?? 0) + 1)));
  });
  for (const name of assigned) reads.delete(name);
  const body = blockWith(ir.body, reads);
  return body === ir.body ? ir : { ...ir, body };
}

function blockWith(stmts: Stmt[], reads: ReadonlyMap<string, number>): Stmt[] {
  const inner = stmts.map((stmt) => mapBlocks(stmt, (block) => blockWith(block, reads)));
  const places = new Map<string, number>();
  const mentions = new Map<string, number>();
  // The last statement from which control may go elsewhere.
  let turn = -1;
  const taken = new Map<number, number>();
  inner.forEach((stmt, at) => {
    const given = stmt.kind === "assign" ? stmt.value : stmt.kind === "let" ? stmt.init : undefined;
    const from = given?.op === "local" ? places.get(given.name) : undefined;
    // A variable that is declared here has not been mentioned.
    const isFree = stmt.kind === "let" || (turn < from! && (mentions.get((stmt as { name: string }).name) ?? -1) <= from!);
    if (from !== undefined && isFree) taken.set(at, from);
    if (!isPlain(stmt)) turn = at;
    walkStmts([stmt], (each) => note(each, at, mentions));
    if (stmt.kind === "let" && stmt.init && reads.get(stmt.name) === 1 && !taken.has(at)) places.set(stmt.name, at);
  });
  if (taken.size === 0) return inner.some((stmt, n) => stmt !== stmts[n]) ? inner : stmts;
  const given = new Map([...taken].map(([at, from]) => [from, inner[at]] as const));
  return inner.flatMap((stmt, n): Stmt[] => {
    const target = given.get(n);
    if (target?.kind === "let" && stmt.kind === "let") return [{ ...target, init: stmt.init, location: stmt.location }];
    if (target?.kind === "assign" && stmt.kind === "let")
      return [{ kind: "assign", name: target.name, value: stmt.init!, location: stmt.location }];
    return taken.has(n) ? [] : [stmt];
  });
}

/** Whether control goes on with the next statement, and no other stands within. */
const isPlain = ({ kind }: Stmt): boolean =>
  ["let", "assign", "array", "setElement", "store", "scatter", "reduce", "reduceJointly"].includes(kind);

function note(stmt: Stmt, at: number, mentions: Map<string, number>): void {
  if (stmt.kind === "let" || stmt.kind === "assign") mentions.set(stmt.name, at);
  for (const expr of exprsOf(stmt)) walkExpr(expr, (node) => void (node.op === "local" && mentions.set(node.name, at)));
}
