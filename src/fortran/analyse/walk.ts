import type { ActualArgument, Expr, Name, ComponentRef, Stmt, Designator } from "../tree/index.js";

import { eachNode, eachStatement } from "./visit.js";

/* Visits of the syntax tree. */

const EXPRESSIONS: readonly string[] = ["literal", "complex", "name", "part", "apply", "unary", "binary", "group", "constructor"];
/** Keys of a statement that hold other statements, or say how they are meant. */
const NOT_OWN: readonly string[] = ["at", "body", "otherwise", "directive", "declarations", "options"];

/** The outermost expressions in a part of the tree. */
function roots(tree: unknown): Expr[] {
  if (Array.isArray(tree)) return tree.flatMap(roots);
  if (tree === null || typeof tree !== "object") return [];
  if (EXPRESSIONS.includes((tree as Expr).kind)) return [tree as Expr];
  return Object.entries(tree).flatMap(([key, value]) => (NOT_OWN.includes(key) ? [] : roots(value)));
}

/** The expressions that stand in a statement itself, those on its left side included. */
export const expressionsOf = (stmt: Stmt): readonly Expr[] => (stmt.kind === "call" ? roots([stmt.args, stmt.launch]) : roots(stmt));

/** A statement with other expressions of its own: `change` is given each, from the innermost outwards. */
export function withExpressions<T>(tree: T, change: (e: Expr) => Expr): T {
  if (Array.isArray(tree)) return tree.map((item) => withExpressions<unknown>(item, change)) as T;
  if (tree === null || typeof tree !== "object" || (tree as { kind?: string }).kind === "implied-do") return tree;
  const entries = Object.entries(tree).map(([key, value]) => [
    key,
    NOT_OWN.includes(key) ? value : withExpressions<unknown>(value, change),
  ]);
  const made = Object.fromEntries(entries) as T & Expr;
  // One value of a `case` stays one expression.
  if ("lower" in tree && "upper" in tree && tree.lower === tree.upper) Object.assign(made, { upper: (made as { lower?: Expr }).lower });
  return EXPRESSIONS.includes(made.kind) ? (change(made) as T) : made;
}

export const argumentsOf = (args: readonly ActualArgument[]): Expr[] => roots(args);

/** An expression and all inside of it; parts of a component are not visited. */
export const visitExpr = (e: Expr, visit: (e: Expr) => boolean | void): void =>
  eachNode(e, (node) => ((EXPRESSIONS.includes(node.kind) && visit(node as Expr) === false) || node.kind === "part" ? false : undefined));

/** All expressions of some statements and of those inside of them. */
export function walkAll(stmts: readonly Stmt[], visit: (e: Expr, stmt: Stmt) => boolean | void): void {
  eachStatement(stmts, (stmt) => expressionsOf(stmt).forEach((root) => visitExpr(root, (e) => visit(e, stmt))));
}

/** The name of a variable, `p_nx` of a component `p%nx`. */
export function variableName(e: Designator | Name | ComponentRef): string {
  if (e.kind === "name") return e.name;
  if (e.kind === "apply") return variableName(e.base);
  return `${e.base.kind === "name" || e.base.kind === "part" || e.base.kind === "apply" ? variableName(e.base) : "?"}_${e.name}`;
}

/** Names that occur in some statements: read, written or passed. */
export function namesIn(stmts: readonly Stmt[]): Set<string> {
  const names = new Set<string>();
  eachStatement(stmts, (stmt) => {
    if (stmt.kind === "do") names.add(stmt.variable);
    for (const root of expressionsOf(stmt)) for (const name of namesInExpr(root)) names.add(name);
  });
  return names;
}

export function namesInExpr(e: Expr): Set<string> {
  const names = new Set<string>();
  visitExpr(e, (at) => void ((at.kind === "name" || at.kind === "part") && names.add(variableName(at))));
  return names;
}

/** An expression without the parentheses around it. */
export const bare = (e: Expr): Expr => (e.kind === "group" ? bare(e.a) : e);
