import { combineFunction, jointFunction } from "../../ir/combine.js";
import { evaluateBinary } from "../../ir/evaluate.js";
import { foldGroups } from "../../ir/joint.js";
import type { ScatterOp } from "../../ir/types.js";
import type { Binding } from "./binding.js";

const OPERATORS: Record<ScatterOp, "add" | "min" | "max"> = { sum: "add", min: "min", max: "max" };

/**
 * Results of a launch, folded with their initial values if they were given any: the initial value first, then the elements' values. All
 * backends do that on the host, so the order is the same everywhere.
 */
export function withInitialValues(
  { ir, initial }: Pick<Binding, "ir" | "initial">,
  results: Record<string, number>,
): Record<string, number> {
  for (const parts of foldGroups(ir.params.filter((p) => p.kind === "reduce"))) {
    const [{ joint }] = parts;
    const names = parts.map(({ name }) => name);
    if (!joint || !names.every((name) => Object.hasOwn(initial, name) && Object.hasOwn(results, name))) continue;
    const values = jointFunction(joint)(
      names.map((name) => initial[name] as number),
      names.map((name) => results[name]),
    );
    names.forEach((name, n) => (results[name] = values[n]));
  }
  for (const param of ir.params) {
    if (param.kind !== "reduce" || param.op === "joint" || !Object.hasOwn(initial, param.name) || !Object.hasOwn(results, param.name))
      continue;
    const { name, op, type, combine } = param;
    const [before, fold] = [initial[name] as number, results[name]];
    results[name] = op === "custom" ? combineFunction(combine!)(before, fold) : evaluateBinary(OPERATORS[op], type, before, fold);
  }
  return results;
}
