import type { NumberElement, NumberType, Expr, KernelIR, Param, ScalarType, Stmt } from "../../src/ir/types.js";
import { mapExpr, mapStmts } from "../../src/ir/walk.js";
import { grid, type Memory } from "./memory.js";

/** The kernel with f32 in place of every f64, for devices that have none. */
export function narrowKernel(ir: KernelIR): KernelIR {
  return {
    ...ir,
    params: ir.params.map(narrowParam),
    tables: ir.tables.map((table) => ({
      ...table,
      type: narrow(table.type),
      values: table.values.map((value) => valueOf(table.type as NumberType)(Number(value))),
    })),
    body: mapStmts(ir.body, { expr: narrowExpr, stmt: narrowStmt }),
  };
}

/** Contents of its views: no subnormal numbers, which such devices may flush. */
export const narrowMemory = (memory: Memory): Memory =>
  Object.fromEntries(
    Object.entries(memory).map(([name, { type, shape, data }]) => [name, grid(narrow(type), shape, Array.from(data, valueOf(type)))]),
  );

export const narrowScalars = (scalars: Record<string, number | boolean>, ir: KernelIR): Record<string, number | boolean> =>
  Object.fromEntries(
    Object.entries(scalars).map(([name, value]) => {
      const param = ir.params.find((p) => p.name === name);
      return [name, typeof value === "number" && param?.kind === "scalar" ? valueOf(param.type)(value) : value];
    }),
  );

const narrow = <T extends ScalarType | NumberElement>(type: T): T => (type === "f64" ? ("f32" as T) : type);

const valueOf =
  (type: ScalarType | NumberElement) =>
  (value: number): number => {
    if (type !== "f64" && type !== "f32") return value;
    return Math.abs(value) < 2 ** -126 ? 0 * value : Math.fround(value);
  };

function narrowParam(param: Param): Param {
  switch (param.kind) {
    case "scalar":
      return { ...param, type: narrow(param.type) };
    case "reduce":
      return {
        ...param,
        type: narrow(param.type),
        identity: valueOf(param.type as NumberType)(Number(param.identity)),
        combine: param.combine && { ...param.combine, body: narrowExpr(param.combine.body) },
        joint: param.joint && { ...param.joint, bodies: param.joint.bodies.map(narrowExpr) },
      };
    default:
      return { ...param, element: narrow(param.element) } as Param;
  }
}

const narrowExpr = (expr: Expr): Expr =>
  mapExpr(expr, (e) => {
    if (e.op === "const") return { ...e, type: narrow(e.type), value: typeof e.value === "number" ? valueOf(e.type)(e.value) : e.value };
    if (e.op === "cast" && narrow(e.type) === e.a.type) return e.a;
    return { ...e, type: narrow(e.type) } as Expr;
  });

function narrowStmt(stmt: Stmt): Stmt {
  if (stmt.kind === "let" || stmt.kind === "array") return { ...stmt, type: narrow(stmt.type) } as Stmt;
  if (stmt.kind === "teamReduce") return { ...stmt, results: stmt.results.map((result) => ({ ...result, type: narrow(result.type) })) };
  return stmt;
}
