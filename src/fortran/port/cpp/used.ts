/* Variables that code in C++ needs. */

import { ownerOf, type UnitScope, type Variable } from "../../analyse/symbols.js";
import { eachStatement } from "../../analyse/visit.js";
import { expressionsOf, variableName, visitExpr } from "../../analyse/walk.js";
import type { ComponentRef, Expr, Name, Stmt } from "../../tree/index.js";
import { isCast, refuse, resolve } from "./expressions.js";

/** A name that some statements or bounds hold. */
export interface UsedName {
  readonly expr: Name | ComponentRef;
  readonly variable: Variable;
}

/** Variables and components by their names, with bounds and constants before the ones that need them. */
export function usedIn(scope: UnitScope, stmts: readonly Stmt[], more: readonly (Expr | undefined)[] = []): Map<string, UsedName> {
  const found = new Map<string, UsedName>();
  const looking = new Set<string>();
  const look = (at: UnitScope, root: Expr): void =>
    visitExpr(root, (e) => {
      if (e.kind === "name" || e.kind === "part") add(at, e);
      if (e.kind !== "apply" || !isCast(variableName(e.base)) || e.args[0]?.kind !== "value") return true;
      look(at, e.args[0].value);
      return false;
    });
  const add = (at: UnitScope, expr: Name | ComponentRef): void => {
    const variable = resolve(at, expr);
    const name = variableName(expr);
    if (!variable) return;
    const known = found.get(name)?.variable;
    if (known && (ownerOf(known) !== ownerOf(variable) || known.name !== variable.name))
      refuse(expr, name, "it names different variables in the code that the loop needs", "rename one of them");
    if (known) return;
    // Bounds that lead back to their array are refused elsewhere.
    if (looking.has(name)) return;
    looking.add(name);
    for (const { lower, upper } of variable.dims ?? []) for (const e of [lower, upper]) if (e && e !== "*") look(variable.scope, e);
    if (variable.value) look(variable.scope, variable.value);
    found.set(name, { expr, variable });
  };
  for (const e of more) if (e) look(scope, e);
  eachStatement(stmts, (s) => {
    if (s.kind === "do") add(scope, { kind: "name", name: s.variable, at: s.at });
    for (const e of expressionsOf(s)) look(scope, e);
  });
  return found;
}

/** Whether an array is a dummy whose heading stands in other places, too. These do not know of `target`, which c_loc needs. */
export function isSeenElsewhere({ variable, expr }: UsedName): boolean {
  const { unit, parent } = ownerOf(variable);
  if (!variable.dummy || expr.kind !== "name" || unit.kind !== "procedure") return false;
  return !parent || unit.prefixes.includes("module");
}
