import { analyseAccess } from "../../ir/analysis/access.js";
import { checkRaces } from "../../ir/analysis/races.js";
import { KernelError } from "../../base/errors.js";
import { optimise } from "../../ir/passes/optimise.js";
import type { KernelIR, Param } from "../../ir/types.js";

/**
 * Possible races that the directive denies: a message for each array with a place that two elements may touch
 * and at least one may write. No message means that the order of the elements does not matter.
 */
export const racesOf = (ir: KernelIR): string[] => [
  ...racesIn(ir, new Set(ir.params.flatMap((param) => (param.kind === "view" && param.disjoint ? [param.name] : [])))).values(),
];

/** Why elements may share places of arrays, for the names where that could not be ruled out. */
export function racesIn(ir: KernelIR, names: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>();
  if (names.size === 0) return found;
  const optimised = optimise(ir);
  const access = analyseAccess(optimised);
  for (const name of names) {
    const params = ir.params.map((param): Param => (param.kind === "view" ? { ...param, disjoint: param.name !== name } : param));
    try {
      checkRaces({ ...optimised, params }, access);
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      found.set(name, error.message);
    }
  }
  return found;
}
