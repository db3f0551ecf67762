import type { Directive, Stmt } from "../tree/index.js";
import { controlFlow, readsPart } from "./flow.js";
import { renamedVariables } from "./blocks.js";
import { hasOwnIndices, sharingOf } from "./sharing.js";
import { findNamed, isSaved, ownerOf, proceduresSeen, type UnitScope, type Variable } from "./symbols.js";
import { bodiesOf, eachStatement, mapStatements, namesInTree, withBodies } from "./visit.js";

/* Uses of variables after a statement. */

/** Whether the value that a statement leaves in a variable may be read after it; an array counts as assigned with its first element. */
export function isReadBehind(scope: UnitScope, stmt: Stmt, name: string): boolean {
  const following = followingOf(scope, stmt, name);
  if (!Array.isArray(following)) return following === "anything";
  const flow = controlFlow(following, proceduresSeen(scope));
  return findNamed(scope, name)!.component ? readsPart(flow, name) : flow.readFirst.has(name);
}

/** Whether elements that a statement leaves in an array may be read after it. */
export function areReadBehind(scope: UnitScope, stmt: Stmt, name: string): boolean {
  const following = followingOf(scope, stmt, name);
  if (!Array.isArray(following)) return following === "anything";
  for (const s of following) {
    const isWhole = s.kind === "assign" && s.target.kind === "name" && s.target.name === name;
    if (isWhole ? namesInTree(s.value).has(name) : namesInTree(s).has(name)) return true;
    if (isWhole) return false;
  }
  return false;
}

/** Statements that may run after a statement, as far as they use a variable; `anything` if others may use it, `nothing` if it is unknown. */
function followingOf(scope: UnitScope, stmt: Stmt, name: string): readonly Stmt[] | "anything" | "nothing" {
  const { unit } = scope;
  const variable = findNamed(scope, name);
  if (!variable || unit.kind === "module") return "nothing";
  if (ownerOf(variable) !== scope || isSaved(variable) || (variable.dummy && !variable.attributes.has("value"))) return "anything";
  if (unit.kind === "procedure" && unit.form === "function" && name === (unit.result ?? unit.name)) return "anything";
  // Internal procedures may be called from anywhere.
  if (unit.procedures.some((inner) => namesInTree(inner).has(name))) return "anything";
  return withoutOwn(scope, behind(unit.body, stmt) ?? [], name, variable, []);
}

/** Statements without assignments of what a construct has for itself: such ones leave the variable as it was. */
function withoutOwn(scope: UnitScope, body: readonly Stmt[], name: string, variable: Variable, around: readonly Directive[]): Stmt[] {
  // No name of a program has a blank.
  const renamed = (s: Stmt): Stmt[] =>
    s.kind === "assign" && s.target.kind === "name" && s.target.name === name ? [{ ...s, target: { ...s.target, name: `${name} ` } }] : [s];
  return body.map((s) => {
    if (isIndex(s, name) || isPrivate(s, name)) return renamedVariables(s, name, `${name} `) as Stmt;
    const isOwn =
      s.kind === "directed"
        ? sharingOf(variable, name, around, [s.directive]) === "private"
        : s.kind === "do-concurrent" && [...s.local, ...s.localInit].includes(name);
    const inner = s.kind === "directed" ? [...around, s.directive] : around;
    const without = withBodies(s, (part) => withoutOwn(scope, part, name, variable, inner));
    if (!isOwn) return without;
    const reads = bodiesOf(without).some((part) => controlFlow(part, proceduresSeen(scope)).readFirst.has(name));
    return reads ? withBodies(without, (part) => mapStatements(part, renamed)) : (renamedVariables(without, name, `${name} `) as Stmt);
  });
}

/** Whether a clause gives each iteration a variable of its own, without the value from before. */
function isPrivate(s: Stmt, name: string): boolean {
  if (s.kind === "do-concurrent") return s.local.includes(name);
  return s.kind === "directed" && s.directive.clauses.some((clause) => clause.kind === "private" && clause.names.includes(name));
}

/** Whether a parallel loop has a variable for itself, as the variable of a loop. */
function isIndex(s: Stmt, name: string): boolean {
  if (s.kind === "do-concurrent") return s.axes.some(({ variable }) => variable === name);
  if (s.kind !== "directed" || !hasOwnIndices(s.directive)) return false;
  let found = false;
  eachStatement(s.body, (each) => void (found ||= each.kind === "do" && each.variable === name));
  return found;
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
