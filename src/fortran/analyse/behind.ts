import type { Stmt } from "../tree/index.js";
import { flowOf, readsPart } from "./flow.js";
import { findNamed, isSaved, ownerOf, proceduresSeen, type Scope } from "./symbols.js";
import { bodiesOf } from "./visit.js";

/* What becomes of variables behind a statement. */

/** Whether what a statement leaves in a variable may be read behind it. */
export function isReadBehind(scope: Scope, stmt: Stmt, name: string): boolean {
  const { unit } = scope;
  const variable = findNamed(scope, name);
  if (!variable || unit.kind === "module") return false;
  if (ownerOf(variable) !== scope || isSaved(variable) || (variable.dummy && !variable.attributes.has("value"))) return true;
  if (unit.kind === "procedure" && unit.form === "function" && name === (unit.result ?? unit.name)) return true;
  const flow = flowOf(behind(unit.body, stmt) ?? [], proceduresSeen(scope));
  return variable.component ? readsPart(flow, name) : flow.readFirst.has(name);
}

/** What may run behind a statement: the next turn of a loop around it, too. */
function behind(body: readonly Stmt[], stmt: Stmt): Stmt[] | undefined {
  for (const [n, each] of body.entries()) {
    const rest = body.slice(n + 1);
    if (each === stmt) return rest;
    const again = each.kind === "do" || each.kind === "do-while" ? [each] : [];
    for (const part of bodiesOf(each)) {
      const found = behind(part, stmt);
      if (found) return [...found, ...again, ...rest];
    }
  }
  return undefined;
}
