import type { Directive, Stmt } from "../tree/index.js";
import { controlFlow, readsPart } from "./flow.js";
import { sharingOf } from "./sharing.js";
import { findNamed, isSaved, ownerOf, proceduresSeen, type UnitScope, type Variable } from "./symbols.js";
import { bodiesOf, mapStatements, namesInTree, withBodies } from "./visit.js";

/* Uses of variables after a statement. */

/** Whether the value that a statement leaves in a variable may be read after it. */
export function isReadBehind(scope: UnitScope, stmt: Stmt, name: string): boolean {
  const { unit } = scope;
  const variable = findNamed(scope, name);
  if (!variable || unit.kind === "module") return false;
  if (ownerOf(variable) !== scope || isSaved(variable) || (variable.dummy && !variable.attributes.has("value"))) return true;
  if (unit.kind === "procedure" && unit.form === "function" && name === (unit.result ?? unit.name)) return true;
  // Internal procedures may be called from anywhere.
  if (unit.procedures.some((inner) => namesInTree(inner).has(name))) return true;
  const following = withoutOwn(behind(unit.body, stmt) ?? [], name, variable, []);
  const flow = controlFlow(following, proceduresSeen(scope));
  return variable.component ? readsPart(flow, name) : flow.readFirst.has(name);
}

/** Statements without assignments of what a construct has for itself: such ones leave the variable as it was. */
function withoutOwn(body: readonly Stmt[], name: string, variable: Variable, around: readonly Directive[]): Stmt[] {
  // No name of a program has a blank.
  const renamed = (s: Stmt): Stmt[] =>
    s.kind === "assign" && s.target.kind === "name" && s.target.name === name ? [{ ...s, target: { ...s.target, name: `${name} ` } }] : [s];
  return body.map((s) => {
    const isOwn =
      s.kind === "directed"
        ? sharingOf(variable, name, around, [s.directive]) === "private"
        : s.kind === "do-concurrent" && [...s.local, ...s.localInit].includes(name);
    if (isOwn) return withBodies(s, (part) => mapStatements(part, renamed));
    const inner = s.kind === "directed" ? [...around, s.directive] : around;
    return withBodies(s, (part) => withoutOwn(part, name, variable, inner));
  });
}

/** Statements that may run after a statement, including the next iteration of a loop around it. */
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
