import { literal } from "../simplify.js";
import type { Expr, KernelIR, NumericType, Stmt } from "../types.js";
import { FreshNames } from "./copy.js";
import { assignedLocals, mapExpr, mapStmts, someExpr, walkExprs, walkStmts } from "../walk.js";

/** Turns private arrays that are only touched at constant indices inside them into locals, which targets keep in registers. */
export function scalarise(ir: KernelIR): KernelIR {
  const lengths = privateArrays(ir);
  for (const array of arraysInMemory(ir)) lengths.delete(array);
  if (lengths.size === 0) return ir;

  const names = new FreshNames(ir);
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

/** Private arrays that stay in memory however loops are written out: an index of theirs is known only when the kernel runs. */
export function arraysAtRun(ir: KernelIR): Set<string> {
  const lengths = privateArrays(ir);
  const found = new Set<string>();
  if (lengths.size === 0) return found;
  const late = new Set<string>();
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "while") for (const name of assignedLocals([...stmt.body, ...stmt.update])) late.add(name);
  });
  const isLate = (e: Expr): boolean => someExpr(e, (node) => LATE.has(node.op) || (node.op === "local" && late.has(node.name)));
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "let" ? stmt.init && isLate(stmt.init) : stmt.kind === "for" && (isLate(stmt.start) || isLate(stmt.stop)))
      late.add((stmt as { name: string }).name);
  });
  const touch = (array: string, index: Expr): void => {
    if (lengths.has(array) && isLate(index)) found.add(array);
  };
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "setElement") touch(stmt.array, stmt.index);
  });
  walkExprs(ir.body, (node) => {
    if (node.op === "element") touch(node.array, node.index);
  });
  return found;
}

/** Expressions that no unrolling makes constant. */
const LATE: ReadonlySet<Expr["op"]> = new Set<Expr["op"]>(["param", "index", "teamSize", "load", "extent", "checked"]);

/** Lengths of the private arrays by their names. */
export function privateArrays(ir: KernelIR): Map<string, number> {
  const lengths = new Map<string, number>();
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "array" && stmt.space === "private") lengths.set(stmt.name, stmt.length);
  });
  return lengths;
}
