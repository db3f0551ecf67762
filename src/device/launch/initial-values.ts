import { combineFunction } from "../../ir/combine.js";
import { evaluateBinary } from "../../ir/evaluate.js";
import type { ReduceOp } from "../../ir/types.js";
import type { Binding } from "./binding.js";

const OPERATORS: Record<Exclude<ReduceOp, "custom">, "add" | "min" | "max"> = { sum: "add", min: "min", max: "max" };

/**
 * Results of a launch, folded with their initial values if they were given any: the initial value first, then the elements' values. All
 * backends do that on the host, so the order is the same everywhere.
 */
export function withInitialValues(
  { ir, initial }: Pick<Binding, "ir" | "initial">,
  results: Record<string, number>,
): Record<string, number> {
  for (const param of ir.params) {
    if (param.kind !== "reduce" || !Object.hasOwn(initial, param.name) || !Object.hasOwn(results, param.name)) continue;
    const { name, op, type, combine } = param;
    const [before, fold] = [initial[name], results[name]];
    results[name] = op === "custom" ? combineFunction(combine!)(before, fold) : evaluateBinary(OPERATORS[op], type, before, fold);
  }
  return results;
}
