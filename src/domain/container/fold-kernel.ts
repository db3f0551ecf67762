import type { NumberType } from "../../ir/types.js";
import { kernel, type Kernel } from "../../kernel/declare/kernel.js";
import { max, min, sum, view, type ScalarToken } from "../../kernel/declare/params.js";

export type NamedFold = "sum" | "min" | "max";
const folds = new Map<string, Kernel>();

/** The kernel that folds `partials` into `result`. */
export function foldKernel(op: NamedFold, type: NumberType): Kernel {
  const key = `${op} ${type}`;
  const known = folds.get(key) ?? (FOLDS[op]({ kind: "scalar", type }) as Kernel);
  folds.set(key, known);
  return known;
}

const FOLDS: Record<NamedFold, (type: ScalarToken<NumberType>) => unknown> = {
  sum: (type) => kernel("collect sum", { result: sum(type), partials: view(type) }, ({ result, partials }, i) => result.add(partials[i])),
  min: (type) => kernel("collect min", { result: min(type), partials: view(type) }, ({ result, partials }, i) => result.min(partials[i])),
  max: (type) => kernel("collect max", { result: max(type), partials: view(type) }, ({ result, partials }, i) => result.max(partials[i])),
};
