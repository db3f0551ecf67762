import { unreachable } from "../../ir/unreachable.js";
import type { Argument, Expr, Name, Part, Stmt, Variable } from "../tree/index.js";

import { bodiesOf } from "./visit.js";

/* Visits of the syntax tree. */

/** All statements, outer before inner; those inside of one are left out where `visit` gives false. */
export function walkStatements(stmts: readonly Stmt[], visit: (stmt: Stmt) => boolean | void): void {
  for (const stmt of stmts) if (visit(stmt) !== false) for (const block of bodiesOf(stmt)) walkStatements(block, visit);
}

const present = (...list: readonly (Expr | undefined)[]): Expr[] => list.filter((e) => e !== undefined);

/** The expressions that stand in a statement itself, those on its left side included. */
export function expressionsOf(stmt: Stmt): readonly Expr[] {
  switch (stmt.kind) {
    case "assign":
    case "pointer-assign":
      return [stmt.target, stmt.value];
    case "call":
      return [...argumentsOf(stmt.args), ...present(stmt.launch?.grid, stmt.launch?.block, stmt.launch?.stream)];
    case "if":
    case "where":
      return stmt.branches.map(({ cond }) => cond);
    case "do":
      return present(stmt.start, stmt.stop, stmt.step);
    case "do-while":
      return present(stmt.cond);
    case "do-concurrent":
      return [...stmt.axes.flatMap(({ start, stop, step }) => present(start, stop, step)), ...present(stmt.mask)];
    case "select":
      return [stmt.value, ...stmt.cases.flatMap(({ ranges }) => (ranges ?? []).flatMap(({ lower, upper }) => present(lower, upper)))];
    case "associate":
      return stmt.names.map(({ value }) => value);
    case "stop":
      return present(stmt.value);
    case "print":
      return stmt.items;
    case "allocate":
      return stmt.arrays.map(({ target }) => target);
    case "deallocate":
      return stmt.arrays;
    case "block":
    case "exit":
    case "cycle":
    case "return":
    case "continue":
    case "directed":
    case "comment":
    case "unsupported":
      return [];
    default:
      return unreachable(stmt);
  }
}

export const argumentsOf = (args: readonly Argument[]): Expr[] =>
  args.flatMap((arg) => (arg.kind === "value" ? [arg.value] : present(arg.lower, arg.upper, arg.step)));

function children(e: Expr): readonly Expr[] {
  switch (e.kind) {
    case "literal":
    case "name":
      return [];
    case "part":
      return [e.base];
    case "apply":
      return [e.base, ...argumentsOf(e.args)];
    case "unary":
    case "group":
      return [e.a];
    case "binary":
      return [e.a, e.b];
    case "constructor":
      return e.items.flatMap((item) => (item.kind === "implied-do" ? [...item.items, item.start, item.stop] : [item]));
    default:
      return unreachable(e);
  }
}

/** An expression and all inside of it; parts of a component are not visited. */
export function walkExpr(e: Expr, visit: (e: Expr) => boolean | void): void {
  if (visit(e) === false || e.kind === "part") return;
  for (const child of children(e)) walkExpr(child, visit);
}

/** All expressions of some statements and of those inside of them. */
export function walkAll(stmts: readonly Stmt[], visit: (e: Expr, stmt: Stmt) => boolean | void): void {
  walkStatements(stmts, (stmt) => expressionsOf(stmt).forEach((root) => walkExpr(root, (e) => visit(e, stmt))));
}

/** The name of a variable, `p_nx` of a component `p%nx`. */
export function nameOf(e: Variable | Name | Part): string {
  if (e.kind === "name") return e.name;
  if (e.kind === "apply") return nameOf(e.base);
  return `${e.base.kind === "name" || e.base.kind === "part" || e.base.kind === "apply" ? nameOf(e.base) : "?"}_${e.name}`;
}

/** Names that occur in some statements: read, written or passed. */
export function namesIn(stmts: readonly Stmt[]): Set<string> {
  const names = new Set<string>();
  walkStatements(stmts, (stmt) => {
    if (stmt.kind === "do") names.add(stmt.variable);
    for (const root of expressionsOf(stmt)) for (const name of namesOf(root)) names.add(name);
  });
  return names;
}

export function namesOf(e: Expr): Set<string> {
  const names = new Set<string>();
  walkExpr(e, (at) => void ((at.kind === "name" || at.kind === "part") && names.add(nameOf(at))));
  return names;
}

/** An expression without the parentheses around it. */
export const bare = (e: Expr): Expr => (e.kind === "group" ? bare(e.a) : e);
