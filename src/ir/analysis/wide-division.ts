import { isFloat, isWide } from "../scalars.js";
import type { KernelIR } from "../types.js";
import { walkExprs } from "../walk.js";

/** Finds a division of integers of 64 bits, or a conversion from or to a float: what pairs of words do not do. Undefined if there is neither. */
export function beyondPairs(ir: KernelIR): { what: string; line: number } | undefined {
  let found: { what: string; line: number } | undefined;
  walkExprs(ir.body, (e, { location: { line } }) => {
    if (e.op === "binary" && isWide(e.type) && (e.fn === "div" || e.fn === "rem")) found ??= { what: `${e.type} is divided`, line };
    if (e.op !== "cast") return;
    const [from, to] = [e.a.type, e.type];
    if ((isWide(from) && isFloat(to)) || (isWide(to) && isFloat(from))) found ??= { what: `${from} is converted to ${to}`, line };
  });
  return found;
}
