import { analyseAccess } from "../../ir/analysis/access.js";
import { checkRaces } from "../../ir/analysis/races.js";
import { KernelError } from "../../ir/errors.js";
import { optimise } from "../../ir/passes/optimise.js";
import type { KernelIR, Param } from "../../ir/types.js";

/**
 * What could not be proved free of races, though the directive says so: a message for each array that two elements may touch at one place,
 * of which one writes. No message means that the order of the elements does not matter.
 */
export function racesOf(ir: KernelIR): string[] {
  const asserted = ir.params.filter((param) => param.kind === "view" && param.disjoint);
  if (asserted.length === 0) return [];
  const optimised = optimise(ir);
  const access = analyseAccess(optimised);
  return asserted.flatMap(({ name }) => {
    const params = ir.params.map((param): Param => (param.kind === "view" && param.name === name ? { ...param, disjoint: false } : param));
    const open = { ...optimised, params };
    try {
      checkRaces(open, access);
      return [];
    } catch (error) {
      if (error instanceof KernelError) return [error.message];
      throw error;
    }
  });
}
