import { isDouble } from "../scalars.js";
import type { KernelIR } from "../types.js";
import { walkExprs, walkStmts } from "../walk.js";

/** Describes the first f64 in the kernel in words, with its line if that is not the kernel's own; undefined if there is none. */
export function firstF64(ir: KernelIR): { what: string; line?: number } | undefined {
  for (const param of ir.params) {
    const type = param.kind === "view" || param.kind === "scatter" ? param.element : param.type;
    if (isDouble(type)) return { what: `its parameter "${param.name}"` };
  }
  const table = ir.tables.find(({ type }) => isDouble(type));
  if (table) return { what: `its table "${table.name}"` };
  let found: { what: string; line?: number } | undefined;
  walkStmts(ir.body, (stmt) => {
    if ((stmt.kind === "let" || stmt.kind === "array") && isDouble(stmt.type))
      found ??= { what: `its variable "${stmt.name}"`, line: stmt.location.line };
  });
  walkExprs(ir.body, (e, { location }) => {
    if (isDouble(e.type)) found ??= { what: "a value of it", line: location.line };
  });
  return found;
}
