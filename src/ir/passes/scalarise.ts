import { literal } from "../simplify.js";
import type { Expr, KernelIR, NumericType, Stmt } from "../types.js";
import { Names } from "./copy.js";
import { mapExpr, mapStmts, walkExprs, walkStmts } from "../walk.js";

/** Turns private arrays that are only touched at constant indices inside them into locals, which targets keep in registers. */
export function scalarise(ir: KernelIR): KernelIR {
  const lengths = privateArrays(ir);
  for (const array of arraysInMemory(ir)) lengths.delete(array);
  if (lengths.size === 0) return ir;

  const names = new Names(ir);
  const locals = new Map([...lengths].map(([array, length]) => [array, Array.from({ length }, (_, k) => names.fresh(`${array}_${k}`))]));
  const localOf = (array: string, index: Expr) => (index.op === "const" ? locals.get(array)?.[index.value as number] : undefined);
  const zero = (type: NumericType) => literal(type, 0);

  const expr = (root: Expr) =>
    mapExpr(root, (node) => {
      const name = node.op === "element" ? localOf(node.array, node.index) : undefined;
      return name ? { op: "local", type: node.type, name } : node;
    });
  const stmt = (s: Stmt): Stmt | Stmt[] => {
    if (s.kind === "array" && locals.has(s.name))
      return locals.get(s.name)!.map((name) => ({ kind: "let", name, type: s.type, init: zero(s.type), location: s.location }));
    const name = s.kind === "setElement" ? localOf(s.array, s.index) : undefined;
    return name && s.kind === "setElement" ? { kind: "assign", name, value: s.value, location: s.location } : s;
  };
  return { ...ir, body: mapStmts(ir.body, { expr, stmt }) };
}

/** Private arrays that no locals can stand for: some index is not constant, or not inside. */
export function arraysInMemory(ir: KernelIR): Set<string> {
  const lengths = privateArrays(ir);
  const found = new Set<string>();
  const touch = (array: string, index: Expr) => {
    const length = lengths.get(array);
    if (length !== undefined && !(index.op === "const" && (index.value as number) >= 0 && (index.value as number) < length))
      found.add(array);
  };
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "setElement") touch(stmt.array, stmt.index);
  });
  walkExprs(ir.body, (node) => {
    if (node.op === "element") touch(node.array, node.index);
  });
  return found;
}

function privateArrays(ir: KernelIR): Map<string, number> {
  const lengths = new Map<string, number>();
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "array" && stmt.space === "private") lengths.set(stmt.name, stmt.length);
  });
  return lengths;
}
