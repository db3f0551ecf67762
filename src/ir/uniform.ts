import { fold } from "./fold.js";
import { printExpr } from "./print.js";
import type { Expr, KernelIR, Stmt } from "./types.js";
import { removeDead } from "./tidy.js";
import { Names } from "./unroll.js";
import { assignedLocals, children, mapChildren, mapStmts, walkStmts } from "./walk.js";

/**
 * Computes what is the same for all elements once, at the top of the body: expressions of scalar parameters, constants, and elements at constant
 * indices of views that `shared` tells are only read and the same for all elements.
 */
export function hoistUniform(ir: KernelIR, shared: (view: string) => boolean): KernelIR {
  const names = new Names(ir);
  const assigned = assignedLocals(ir.body);
  const uniformLocals = new Set<string>();
  const hoisted = new Map<string, Stmt & { kind: "let" }>();

  const isUniform = (expr: Expr): boolean => {
    switch (expr.op) {
      case "const":
      case "param":
        return true;
      case "local":
        return uniformLocals.has(expr.name);
      case "load":
        return shared(expr.view) && expr.indices.every((index) => index.op === "const");
      case "table":
      case "unary":
      case "binary":
      case "compare":
      case "logical":
      case "select":
      case "cast":
      case "call":
        return children(expr).every(isUniform);
      default:
        return false;
    }
  };
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "let" && stmt.init && !assigned.has(stmt.name) && isUniform(stmt.init)) uniformLocals.add(stmt.name);
  });

  const definitions = new Map<string, Expr>();
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "let" && stmt.init && uniformLocals.has(stmt.name)) definitions.set(stmt.name, stmt.init);
  });
  const inPlace = (expr: Expr): Expr => (expr.op === "local" ? inPlace(definitions.get(expr.name)!) : mapChildren(expr, inPlace));
  const hoist = (expr: Expr): Expr => {
    if (!isUniform(expr)) return mapChildren(expr, hoist);
    const value = inPlace(expr);
    if (children(value).every((child) => child.op === "const")) return value;
    const key = `${value.type} ${printExpr(value)}`;
    let definition = hoisted.get(key);
    if (!definition) {
      definition = { kind: "let", name: names.fresh("uniform"), type: value.type, init: value, location: ir.location };
      hoisted.set(key, definition);
    }
    return { op: "local", type: value.type, name: definition.name };
  };
  const body = mapStmts(ir.body, { expr: hoist });
  return hoisted.size === 0 ? ir : removeDead(fold({ ...ir, body: [...hoisted.values(), ...body] }));
}
