/* Goes over syntax trees. */

import type { Expr, Stmt, Unsupported } from "../tree/index.js";

/**
 * Every node below, itself included, in the order of the text; those inside of one are left out where `visit` gives false. Data clauses are left out:
 * they read no variable that they name.
 */
export function eachNode(tree: unknown, visit: (node: { readonly kind: string }) => boolean | void): void {
  if (Array.isArray(tree)) for (const item of tree) eachNode(item, visit);
  else if (tree !== null && typeof tree === "object") {
    if ("kind" in tree && visit(tree as { kind: string }) === false) return;
    for (const [key, value] of Object.entries(tree))
      if (key !== "at" && key !== "objects" && typeof value === "object") eachNode(value, visit);
  }
}

/** Names of variables and functions that an expression or a statement holds. */
export function namesInTree(tree: unknown): Set<string> {
  const found = new Set<string>();
  eachNode(tree, (node) => {
    if (node.kind === "name") found.add((node as Extract<Expr, { kind: "name" }>).name);
    if (node.kind === "do" || node.kind === "implied-do") found.add((node as Extract<Stmt, { kind: "do" }>).variable);
    if (node.kind === "unsupported") for (const name of namesUnread(node as Unsupported)) found.add(name);
  });
  return found;
}

/** Words of a statement that is not read: names among them may be variables. */
export const namesUnread = ({ text }: Unsupported): string[] =>
  (text.replace(/'[^']*'|"[^"]*"/g, " ").match(/[a-z]\w*/gi) ?? []).map((word) => word.toLowerCase());

/** The variable that a statement assigns which is not read, such as `r = a .plus. b`. */
export const assignedUnread = ({ text }: Unsupported): string | undefined =>
  /^([a-z]\w*)\s*(?:\([^=]*\)\s*)?(?:%[^=]*)?=(?!=)/i.exec(text)?.[1].toLowerCase();

/** Whether an expression holds one of these names. */
export const mentionsName = (e: Expr | undefined, names: ReadonlySet<string>): boolean =>
  [...namesInTree(e)].some((name) => names.has(name));

/** The variable that a designator begins with: `a` of `a(i)%b`. */
export function rootOf(e: Expr): string | undefined {
  for (let at: Expr = e; ; at = at.base) {
    if (at.kind === "name") return at.name;
    if (at.kind !== "part" && at.kind !== "apply") return undefined;
  }
}

/** A node with its parts changed; the two bounds of a `case` with one value stay one expression. */
export function withParts<T extends object>(node: T, change: (part: unknown) => unknown): T {
  const made = Object.fromEntries(Object.entries(node).map(([key, part]) => [key, key === "at" ? (part as unknown) : change(part)]));
  if ("lower" in node && "upper" in node && node.lower === node.upper) made["upper"] = made["lower"];
  return made as T;
}

/** Every statement of a body replaced by what `change` gives, from the innermost outwards. */
export function mapStatements(body: readonly Stmt[], change: (s: Stmt) => readonly Stmt[]): Stmt[] {
  return body.flatMap((s) => change(withBodies(s, (part) => mapStatements(part, change))));
}

/** The statement with other bodies. */
export function withBodies(s: Stmt, change: (body: readonly Stmt[]) => readonly Stmt[]): Stmt {
  const branches = "branches" in s ? { branches: s.branches.map((b) => ({ ...b, body: change(b.body) })) } : {};
  const otherwise = "otherwise" in s && s.otherwise ? { otherwise: change(s.otherwise) } : {};
  const cases = s.kind === "select" ? { cases: s.cases.map((c) => ({ ...c, body: change(c.body) })) } : {};
  const own = "body" in s ? { body: change(s.body) } : {};
  return { ...s, ...branches, ...otherwise, ...cases, ...own } as Stmt;
}

/** Every statement below, outer before inner; those inside of one are left out where `visit` gives false. */
export function eachStatement(body: readonly Stmt[], visit: (s: Stmt) => boolean | void): void {
  for (const s of body) if (visit(s) !== false) for (const part of bodiesOf(s)) eachStatement(part, visit);
}

/** The name of a construct, not of a loop, that an `exit` inside leaves. */
export function nameLeft(s: Stmt): string | undefined {
  if (s.kind === "do" || s.kind === "do-while" || s.kind === "do-concurrent" || !("name" in s) || s.name === undefined) return undefined;
  let isLeft = false;
  for (const body of bodiesOf(s)) eachStatement(body, (inner) => void (isLeft ||= inner.kind === "exit" && inner.loop === s.name));
  return isLeft ? s.name : undefined;
}

/** The bodies that a statement holds. */
export function bodiesOf(s: Stmt): (readonly Stmt[])[] {
  const found: (readonly Stmt[])[] = [];
  if ("branches" in s) found.push(...s.branches.map((b) => b.body));
  if ("otherwise" in s && s.otherwise) found.push(s.otherwise);
  if (s.kind === "select") found.push(...s.cases.map((c) => c.body));
  if ("body" in s) found.push(s.body);
  return found;
}
