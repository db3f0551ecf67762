import type { Expr, KernelIR, NumericType, Stmt } from "../../src/ir/types.js";
import { mapExpr, mapStmts, someExpr } from "../../src/ir/walk.js";
import { bin, c, cmp, select, un } from "./build.js";

/** Magnitudes to which values are cut: sums of their products, in any order, are exact. */
const MOST = { f64: 2 ** 10, f32: 2 ** 5 } as const;

const isFloat = (type: string): type is "f64" | "f32" => type === "f64" || type === "f32";

/** Cut to whole numbers of which products and sums are exact; NaN stays. */
const cut = (e: Expr): Expr => (isFloat(e.type) ? bin("min", bin("max", e, c(e.type, -MOST[e.type])), c(e.type, MOST[e.type])) : e);

/** The whole number near a value, of small magnitude; NaN stays. */
export const wholeOf = (value: number): number => Math.max(-9, Math.min(9, Math.trunc(value)));

/**
 * A random kernel whose floats are whole numbers wherever they are inside of it, so that fast mode, which may contract and add in any order, must give
 * the bits of strict mode, but for signs of zeros. Inputs must be whole.
 */
export function wholeNumbers(ir: KernelIR): KernelIR {
  return {
    ...ir,
    tables: ir.tables.map((table) => ({ ...table, values: table.values.map((value) => wholeOf(Number(value))) })),
    body: mapStmts(ir.body, { expr: (root) => mapExpr(root, whole), stmt: bounded }),
  };
}

function whole(e: Expr): Expr {
  if (!isFloat(e.type)) return e;
  const type: NumericType = e.type;
  switch (e.op) {
    case "const":
      return { ...e, value: wholeOf(e.value as number) };
    case "unary":
      return e.fn === "sqrt" ? un("abs", e.a) : e;
    case "call":
      return e.args[0];
    case "cast":
      return cut(e);
    case "binary":
      if (e.fn === "mul") return bin("mul", cut(e.a), cut(e.b));
      if (e.fn === "div") return bin("div", e.a, select(cmp("lt", e.b, c(type, 0)), c(type, -1), c(type, 1)));
      if (e.fn === "rem" || e.fn === "copysign") return bin(e.fn === "rem" ? "min" : "max", e.a, e.b);
      return e;
    default:
      return e;
  }
}

/** Keeps what is stored and assigned from growing with each turn of a loop; folds grow by little. */
function bounded(stmt: Stmt): Stmt {
  if (stmt.kind === "let") return stmt.init ? { ...stmt, init: cut(stmt.init) } : stmt;
  if (stmt.kind === "assign" && isFold(stmt.name, stmt.value)) return { ...stmt, value: { ...stmt.value, b: cut(stmt.value.b) } };
  return "value" in stmt && stmt.value ? ({ ...stmt, value: cut(stmt.value) } as Stmt) : stmt;
}

const isFold = (name: string, e: Expr): e is Extract<Expr, { op: "binary" }> =>
  e.op === "binary" &&
  ["add", "sub", "min", "max"].includes(e.fn) &&
  e.a.op === "local" &&
  e.a.name === name &&
  !someExpr(e.b, (x) => x.op === "local" && x.name === name);
