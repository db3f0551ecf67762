import type { Expr, Stmt } from "../types.js";
import { assignedLocals, children, declares, exprsOf, someExpr, walkExpr } from "../walk.js";

/**
 * True of a loop of straight statements that stores into some of the arrays, one element further in each turn, and whose turns share nothing:
 * compilers can do several turns at once.
 */
export function runsAlong(loop: Extract<Stmt, { kind: "for" }>, arrays: ReadonlySet<string>): boolean {
  const { name, body, step } = loop;
  if (step !== 1 || !body.every(({ kind }) => kind === "let" || kind === "assign" || kind === "setElement")) return false;
  const own = new Set([...body.flatMap(declares), ...assignedLocals(body)]);
  const moving = new Set([...own, name]);
  const stepOf = (e: Expr) => (someExpr(e, (node) => node.op === "local" && own.has(node.name)) ? undefined : stepAlong(e, name));
  const stored = new Set(body.flatMap((stmt) => (stmt.kind === "setElement" && arrays.has(stmt.array) ? [stmt.array] : [])));
  if (stored.size === 0 || carries(body)) return false;
  const fits = (e: Expr): boolean =>
    !someExpr(e, (node) => {
      if (node.op === "element" && arrays.has(node.array)) return stored.has(node.array) || !isOneOf(stepOf(node.index), 0, 1);
      if (node.op !== "load" && node.op !== "table" && node.op !== "element") return node.op === "checked" || node.op === "failed";
      return children(node).some((index) => someExpr(index, (inner) => inner.op === "local" && moving.has(inner.name)));
    });
  return body.every(
    (stmt) => exprsOf(stmt).every(fits) && (stmt.kind !== "setElement" || stepOf(stmt.index) === (arrays.has(stmt.array) ? 1 : 0)),
  );
}

const isOneOf = (value: number | undefined, ...of: number[]): boolean => value !== undefined && of.includes(value);

/** By how much an integer expression grows with the local; undefined if that is not constant. */
function stepAlong(e: Expr, name: string): number | undefined {
  if (e.op === "local") return e.name === name ? 1 : 0;
  const parts = children(e).map((child) => stepAlong(child, name));
  if (parts.every((part) => part === 0)) return 0;
  if (e.op !== "binary" || parts[0] === undefined || parts[1] === undefined) return undefined;
  if (e.fn === "add") return parts[0] + parts[1];
  return e.fn === "sub" ? parts[0] - parts[1] : undefined;
}

/** True where a turn may read what the one before it has left: a local, or an element at a constant index. */
function carries(body: readonly Stmt[]): boolean {
  const keyOf = (array: string, index: Expr) => (index.op === "const" ? `${array}[${Number(index.value)}]` : array);
  const given = (stmt: Stmt) =>
    stmt.kind === "setElement" ? keyOf(stmt.array, stmt.index) : stmt.kind === "let" || stmt.kind === "assign" ? stmt.name : undefined;
  const later = new Set(body.map(given));
  return body.some((stmt) => {
    let found = false;
    for (const expr of exprsOf(stmt))
      walkExpr(expr, (node) => {
        if (node.op === "local") found ||= later.has(node.name);
        if (node.op === "element") found ||= later.has(keyOf(node.array, node.index));
      });
    later.delete(given(stmt));
    return found;
  });
}
