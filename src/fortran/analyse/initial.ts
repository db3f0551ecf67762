import type { Expr, Module, Procedure, MainProgram, Stmt } from "../tree/index.js";
import { eachStatement } from "./visit.js";
import { argumentsOf, variableName, namesInExpr } from "./walk.js";

/** Whether something in a procedure or program, or inside of it, may assign a variable of its own. */
export function mayChange(unit: Module | Procedure | MainProgram, name: string): boolean {
  let found = false;
  if (unit.kind !== "module") eachStatement(unit.body, (stmt) => void (found ||= changes(stmt, name)));
  return found || unit.procedures.some((inner) => mayChange(inner, name));
}

function changes(stmt: Stmt, name: string): boolean {
  const { kind } = stmt;
  if (kind === "assign" || kind === "pointer-assign") return variableName(stmt.target) === name;
  if (kind === "do") return stmt.variable === name;
  if (kind === "unsupported") return new RegExp(`\\b${name}\\b`, "i").test(stmt.text);
  return changeable(stmt).some((e) => namesInExpr(e).has(name));
}

/** Expressions that a statement may assign to. */
function changeable(stmt: Stmt): readonly Expr[] {
  const { kind } = stmt;
  if (kind === "call") return argumentsOf(stmt.args);
  if (kind === "associate") return stmt.names.map(({ value }) => value);
  if (kind === "allocate") return [...stmt.arrays.map(({ target }) => target), ...stmt.options.map(({ value }) => value)];
  return kind === "deallocate" ? [...stmt.arrays, ...stmt.options.map(({ value }) => value)] : [];
}
