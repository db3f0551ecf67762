import { identityOf } from "../../ir/identity.js";
import { constantExpr } from "./values.js";
import { isFloat } from "../../ir/scalars.js";
import { int } from "../../ir/expressions.js";
import type { Location, NumericType, ScatterOp } from "../../ir/types.js";
import type { Lowering } from "./lowering.js";

/**
 * Declares the private array that holds what is folded into the components of a reduction, until they take it, and gives its name. Sums of floats begin with -0,
 * which leaves the bits of all that is added to it: simplification then drops the addition.
 */
export function startHeld(
  cx: Lowering,
  name: string,
  { type, op }: { readonly type: NumericType; readonly op: ScatterOp },
  length: number,
  location: Location,
): string {
  const array = cx.unique(`${name}_values`);
  const start = op === "sum" && isFloat(type) ? -0 : identityOf(op, type);
  cx.out.push({ kind: "array", name: array, type, length, space: "private", location });
  for (let k = 0; k < length && !Object.is(start, 0) && start !== 0n; k++)
    cx.out.push({ kind: "setElement", array, index: int(k), value: constantExpr(type, start), location });
  return array;
}
