import type { ScalarType } from "../scalars.js";
import { isDouble, isWide, type ElementType } from "../scalars.js";
import type { KernelIR } from "../types.js";
import { walkExprs, walkStmts } from "../walk.js";

/** Something in a kernel, in words, with its line if that is not the kernel's own. */
interface TypeUse {
  readonly what: string;
  readonly type: ScalarType | ElementType;
  readonly line?: number;
}

/** The first use of a type that `wanted` holds for; undefined if there is none. */
function firstUse(ir: KernelIR, wanted: (type: ScalarType | ElementType) => boolean): TypeUse | undefined {
  for (const param of ir.params) {
    const type = param.kind === "view" || param.kind === "scatter" ? param.element : param.type;
    if (wanted(type)) return { what: `its parameter "${param.name}"`, type };
  }
  const table = ir.tables.find(({ type }) => wanted(type));
  if (table) return { what: `its table "${table.name}"`, type: table.type };
  let found: TypeUse | undefined;
  walkStmts(ir.body, (stmt) => {
    if ((stmt.kind === "let" || stmt.kind === "array") && wanted(stmt.type))
      found ??= { what: `its variable "${stmt.name}"`, type: stmt.type, line: stmt.location.line };
  });
  walkExprs(ir.body, (e, { location }) => {
    if (wanted(e.type)) found ??= { what: "a value of it", type: e.type, line: location.line };
  });
  return found;
}

/** The first f64 in the kernel. */
export const firstF64 = (ir: KernelIR): TypeUse | undefined => firstUse(ir, isDouble);

/** The first integer of 64 bits in the kernel. */
export const firstWide = (ir: KernelIR): TypeUse | undefined => firstUse(ir, isWide);
