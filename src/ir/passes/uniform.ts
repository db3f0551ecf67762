import { unreachable } from "../../base/unreachable.js";
import { foldConstants } from "../constant-folding.js";
import { printExpr } from "../kernel-text.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { removeDead } from "./tidy.js";
import { FreshNames } from "./copy.js";
import { assignedLocals, children, mapChildren, mapStmts } from "../walk.js";

/**
 * Computes what is the same for all elements once, at the top of the body: expressions of scalar parameters, constants, and elements at constant
 * indices of views that `shared` tells are only read and the same for all elements.
 */
export function hoistUniform(ir: KernelIR, shared: (view: string) => boolean): KernelIR {
  const names = new FreshNames(ir);
  const assigned = assignedLocals(ir.body);
  const hoisted = new Map<string, Stmt & { kind: "let" }>();
  /** Expressions in place of locals that have the same value in all elements. */
  const uniform = new Map<string, Expr>();

  const isUniform = (expr: Expr): boolean => {
    switch (expr.op) {
      case "const":
      case "param":
        return true;
      case "local":
        return uniform.has(expr.name);
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
      case "index":
      case "teamSize":
      case "element":
      case "extent":
      case "checked":
      case "failed":
        return false;
      default:
        return unreachable(expr);
    }
  };
  const substituted = (expr: Expr): Expr => (expr.op === "local" ? uniform.get(expr.name)! : mapChildren(expr, substituted));
  const hoist = (expr: Expr): Expr => {
    if (!isUniform(expr)) return mapChildren(expr, hoist);
    const value = substituted(expr);
    if (value.op === "local" || children(value).every((child) => child.op === "const")) return value;
    const key = `${value.type} ${printExpr(value)}`;
    const known = hoisted.get(key);
    if (known) return uniform.get(known.name)!;
    const name = names.fresh("uniform");
    const local: Expr = { op: "local", type: value.type, name };
    hoisted.set(key, { kind: "let", name, type: value.type, init: value, location: ir.location });
    uniform.set(name, local);
    return local;
  };
  const body = mapStmts(ir.body, {
    expr: hoist,
    stmt: (stmt) => {
      if (stmt.kind === "let" && stmt.init && !assigned.has(stmt.name) && isUniform(stmt.init)) uniform.set(stmt.name, stmt.init);
      return stmt;
    },
  });
  return hoisted.size === 0 ? ir : removeDead(foldConstants({ ...ir, body: [...hoisted.values(), ...body] }));
}
