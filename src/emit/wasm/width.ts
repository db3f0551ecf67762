import type { Expr, Stmt } from "../../ir/types.js";
import { blocksOf, exprsOf, someExpr } from "../../ir/walk.js";
import { BYTES } from "../../device/view.js";
import type { KernelCode } from "./kernel-code.js";
import { type LoopVariable, Variance } from "./variance.js";

/** Why a loop's body is not vectorised; undefined where it is. */
export function scalarReason(code: KernelCode, body: readonly Stmt[], variable: LoopVariable): string | undefined {
  const target = orderedTwice(code, body);
  if (target) return `as updates of "${target}" must come in element order`;
  const variance = new Variance(body, variable);
  const atom = variable.op === "index" ? `index:${variable.axis}` : `local:${variable.name}`;
  const terms = { variable: atom, isFixed: () => true };
  const isContiguous = (e: Extract<Expr, { op: "load" }>): boolean => {
    const { step, leaves } = code.place(e.view, e.indices, terms);
    return step === BYTES[code.arrays.get(e.view)!.type] && leaves.length === 0;
  };
  const gathersInDivergentLoop = (stmts: readonly Stmt[], divergent: boolean): boolean =>
    stmts.some((stmt) => {
      const inside = divergent || variance.isDivergent(stmt);
      const gathers = inside && exprsOf(stmt).some((e) => someExpr(e, (x) => x.op === "load" && variance.varies(x) && !isContiguous(x)));
      return gathers || blocksOf(stmt).some((block) => gathersInDivergentLoop(block, inside));
    });
  return gathersInDivergentLoop(body, false) ? "as a loop of a different length for each element reads scattered memory" : undefined;
}

/** A sorted scatter target that an element may update more than once: lanes would mix the order. */
function orderedTwice(code: KernelCode, body: readonly Stmt[]): string | undefined {
  const counts = new Map<string, number>();
  const visit = (stmts: readonly Stmt[], weight: number): void => {
    for (const stmt of stmts) {
      if (stmt.kind === "scatter" && code.spec.scatter[stmt.target] === "sorted")
        counts.set(stmt.target, (counts.get(stmt.target) ?? 0) + weight);
      for (const block of blocksOf(stmt)) visit(block, stmt.kind === "for" || stmt.kind === "while" ? 2 : weight);
    }
  };
  visit(body, 1);
  return [...counts].find(([, count]) => count > 1)?.[0];
}
