import { isDouble, isSingle, type ElementType, type ScalarType } from "../scalars.js";
import type { Expr, KernelIR, Param, Stmt } from "../types.js";
import { mapExpr, mapStmts } from "../walk.js";

/** The kernel with f32 wherever it has f64: parameters, tables, locals and operations; its constants are rounded to f32. */
export function singlePrecision(ir: KernelIR): KernelIR {
  const tables = ir.tables.map((table) =>
    isDouble(table.type) ? { ...table, type: "f32" as const, values: table.values.map((value) => Math.fround(Number(value))) } : table,
  );
  return { ...ir, params: ir.params.map(singleParam), tables, body: mapStmts(ir.body, { expr: singleExpr, stmt: singleStmt }) };
}

const single = <T extends ScalarType | ElementType>(type: T): T => (isDouble(type) ? "f32" : type) as T;

function singleParam(param: Param): Param {
  if (param.kind === "scalar") return { ...param, type: single(param.type) };
  if (param.kind !== "reduce") return { ...param, element: single(param.element) } as Param;
  const { combine, joint } = param;
  return {
    ...param,
    type: single(param.type),
    identity: isDouble(param.type) ? Math.fround(Number(param.identity)) : param.identity,
    ...(combine && { combine: { ...combine, body: singleExpr(combine.body) } }),
    ...(joint && { joint: { ...joint, bodies: joint.bodies.map(singleExpr) } }),
  };
}

const singleExpr = (root: Expr): Expr =>
  mapExpr(root, (node) => {
    if (!isDouble(node.type)) return node.op === "cast" && node.a.type === node.type ? node.a : node;
    if (node.op === "const") return { ...node, type: "f32", value: Math.fround(Number(node.value)) };
    return node.op === "cast" && isSingle(node.a.type) ? node.a : ({ ...node, type: "f32" } as Expr);
  });

function singleStmt(stmt: Stmt): Stmt {
  if (stmt.kind === "let" || stmt.kind === "array") return { ...stmt, type: single(stmt.type) } as Stmt;
  if (stmt.kind === "teamReduce") return { ...stmt, results: stmt.results.map((result) => ({ ...result, type: single(result.type) })) };
  return stmt;
}
