import type { AccessAnalysis } from "../../ir/access.js";
import { BYTES } from "../../ir/launch.js";
import type { Expr, KernelIR, Stmt, ViewParam } from "../../ir/types.js";
import { someExpr } from "../../ir/walk.js";

export const LINE_BYTES = 64;

/**
 * Views whose stores may bypass the caches: written and never read, by every element, along the policy axis `innermost`, which is the
 * contiguous one of theirs, so that whole cache lines come together. Empty where the body is not straight code or the views' elements
 * differ in size.
 */
export function streamableViews(
  ir: KernelIR,
  access: AccessAnalysis,
  innermost: number,
  strides: Readonly<Record<string, readonly number[]>>,
): ViewParam[] {
  if (ir.policy.kind !== "range" || ir.params.some((p) => p.kind === "reduce" || p.kind === "scatter")) return [];
  if (!ir.body.every((stmt) => ["let", "assign", "store", "if"].includes(stmt.kind))) return [];
  const views = ir.params.filter((p): p is ViewParam => {
    if (p.kind !== "view" || !access.views[p.name]?.written || access.views[p.name].read) return false;
    const unit = strides[p.name].lastIndexOf(1);
    const stores = ir.body.filter((s): s is Extract<Stmt, { kind: "store" }> => s.kind === "store" && s.view === p.name);
    return stores.length === writes(access, p.name) && stores.every((s) => unit >= 0 && runsAlong(s.indices, unit, innermost));
  });
  return views.every((v) => BYTES[v.element] === BYTES[views[0].element]) ? views : [];
}

const writes = (access: AccessAnalysis, view: string) => access.accesses.filter((a) => a.view === view && a.kind === "write").length;

/** Index `unit` is the innermost policy index, perhaps shifted; the others know nothing of it, and none needs the body's locals. */
function runsAlong(indices: readonly Expr[], unit: number, innermost: number): boolean {
  const moves = (e: Expr) => someExpr(e, (n) => n.op === "index" && n.axis === innermost);
  const known = indices.every((e) => !someExpr(e, (n) => n.op === "local" || n.op === "load" || n.op === "element" || n.op === "table"));
  const shifted = (e: Expr): boolean =>
    e.op === "index"
      ? e.axis === innermost
      : e.op === "binary" && e.fn === "add"
        ? (shifted(e.a) && !moves(e.b)) || (!moves(e.a) && shifted(e.b))
        : e.op === "binary" && e.fn === "sub"
          ? shifted(e.a) && !moves(e.b)
          : false;
  return known && indices.every((e, axis) => (axis === unit ? shifted(e) : !moves(e)));
}
