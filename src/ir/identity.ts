import { unreachable } from "../base/unreachable.js";
import { ELEMENTS, isFloat, valueIn, type ValueIn } from "./scalars.js";
import type { NumericType, ScatterOp, ScatterParam } from "./types.js";

/** The value that changes nothing when it is folded by `op`. */
export function identityOf<T extends NumericType>(op: ScatterOp, type: T): ValueIn<T>;
export function identityOf(op: ScatterOp, type: NumericType): number | bigint {
  switch (op) {
    case "sum":
      return valueIn(type, 0);
    case "min":
      return ELEMENTS[type].greatest;
    case "max":
      return ELEMENTS[type].least;
    default:
      return unreachable(op);
  }
}

/** False where updates of a scatter target give the same bits in any order. */
export const orderMatters = ({ op, element }: Pick<ScatterParam, "op" | "element">): boolean => op === "sum" && isFloat(element);
