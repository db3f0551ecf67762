import type { AccessAnalysis } from "../../ir/analysis/access.js";
import { definitionsOf } from "../../ir/analysis/affine.js";
import { BYTES } from "../../ir/scalars.js";
import type { Expr, KernelIR, Stmt, ViewParam } from "../../ir/types.js";
import { declares, mapChildren, sizeOf, someExpr, walkStmts } from "../../ir/walk.js";
import { isVariable, type LoopVariable } from "./vector.js";

export const LINE_BYTES = 64;

/**
 * Nodes of the body for each of its stores from which on it computes longer than memory takes, however stores go there; a second loop for those
 * past the caches would be compiled in vain, and compilers take twice as long for it as for the first.
 */
const LONG = 200;

type Store = Extract<Stmt, { kind: "store" }>;

/** A loop over elements, or over the members of a team. */
interface Loop {
  readonly variable: LoopVariable;
  readonly body: readonly Stmt[];
}

/**
 * Views whose stores may bypass the caches: written and never read, by every element of a range, along the policy axis `innermost`, or by
 * every member of a team; which is the contiguous axis of theirs, so that whole cache lines come together. Empty if the body is not
 * straight code, computes for long, or the views' elements differ in size.
 */
export function streamableViews(
  ir: KernelIR,
  access: AccessAnalysis,
  innermost: number,
  strides: Readonly<Record<string, readonly number[]>>,
): ViewParam[] {
  const loop = ir.policy.kind === "team" ? teamLoop(ir) : { variable: { index: innermost }, body: ir.body };
  if (!loop || ir.params.some((p) => p.kind === "reduce" || p.kind === "scatter")) return [];
  if (!loop.body.every((stmt) => ["let", "assign", "store", "if"].includes(stmt.kind))) return [];
  const stores = storesOf(loop);
  if (sizeOf(loop.body) > LONG * stores.length) return [];
  const views = ir.params.filter((p): p is ViewParam => {
    if (p.kind !== "view" || !access.views[p.name]?.written || access.views[p.name].read) return false;
    const unit = strides[p.name].lastIndexOf(1);
    const own = stores.filter((s) => s.view === p.name);
    return own.length === writes(access, p.name) && own.every((s) => unit >= 0 && runsAlong(s.indices, unit, loop));
  });
  return views.every((v) => BYTES[v.element] === BYTES[views[0].element]) ? views : [];
}

/** A store, with its indices in terms of what is known before the loop. */
interface ResolvedStore {
  readonly store: Store;
  readonly view: string;
  readonly indices: readonly Expr[];
}

/** The stores of a loop that always happen. */
export function storesOf({ body }: Pick<Loop, "body">): ResolvedStore[] {
  const definitions = definitionsOf(body);
  const resolved = (e: Expr): Expr => {
    const value = e.op === "local" ? definitions.get(e.name) : undefined;
    return value ? resolved(value) : mapChildren(e, resolved);
  };
  return body.flatMap((stmt) => (stmt.kind === "store" ? [{ store: stmt, view: stmt.view, indices: stmt.indices.map(resolved) }] : []));
}

/** The loop over the members of a team that does nothing beside it. */
function teamLoop({ body }: KernelIR): Loop | undefined {
  const loops = body.filter((stmt) => stmt.kind === "teamFor");
  const alone = loops.length === 1 && body.every((stmt) => stmt.kind === "teamFor" || stmt.kind === "let");
  return alone ? { variable: { local: loops[0].name }, body: loops[0].body } : undefined;
}

const writes = (access: AccessAnalysis, view: string) => access.accesses.filter((a) => a.view === view && a.kind === "write").length;

/** Index `unit` is the loop's variable, perhaps shifted; the others know nothing of it, and none needs the body's locals. */
function runsAlong(indices: readonly Expr[], unit: number, { variable, body }: Loop): boolean {
  const declared = new Set<string>();
  walkStmts(body, (stmt) => declares(stmt).forEach((name) => declared.add(name)));
  const isOwn = isVariable(variable);
  const moves = (e: Expr) => someExpr(e, isOwn);
  const inside = (e: Expr) => (e.op === "local" && declared.has(e.name)) || e.op === "load" || e.op === "element" || e.op === "table";
  const shifted = (e: Expr): boolean =>
    isOwn(e) ||
    (e.op === "binary" && e.fn === "add" && ((shifted(e.a) && !moves(e.b)) || (!moves(e.a) && shifted(e.b)))) ||
    (e.op === "binary" && e.fn === "sub" && shifted(e.a) && !moves(e.b));
  return indices.every((e, axis) => !someExpr(e, inside) && (axis === unit ? shifted(e) : !moves(e)));
}
