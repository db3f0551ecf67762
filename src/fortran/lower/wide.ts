import type { Expr, Location } from "../../ir/types.js";
import type { Variable } from "../analyse/symbols.js";
import { fortranConstant } from "./constants.js";
import { Unlowerable } from "./values.js";

/*
 * Integers of 64 bits. Kernels hold them in 32, as far as that gives the same: `small` values are arguments and variables of loops, which are
 * checked where they come from; `fits` is any other value that has 32 bits for certain. What `wraps` is right modulo 2**32, which is enough for
 * a subscript of +, -, *.
 */
export type Wide = "small" | "fits" | "wraps";

/** Integers of 64 bits have to stay below this, so that adding `NEAR` does not overflow. */
export const WIDE_LIMIT = 2 ** 31 - 2 ** 21;
const NEAR = 2 ** 20;

/** A variable as kernels hold it. */
export function narrowed(variable: Variable): Variable {
  if (!variable.wide && !variable.byte) return variable;
  const { refused: _, ...held } = variable;
  return held;
}

/** Width of a sum, difference, product or quotient. */
export function wideResult(op: string, [x, a]: [Expr, Wide | undefined], [y, b]: [Expr, Wide | undefined]): Wide | undefined {
  if (a === undefined && b === undefined) return undefined;
  if (op === "/") return a === "small" ? "small" : "fits";
  const isNear = (e: Expr): boolean => Math.abs(Number(fortranConstant(e) ?? NaN)) <= NEAR;
  return op !== "*" && ((a === "small" && isNear(y)) || (b === "small" && isNear(x))) ? "fits" : "wraps";
}

/** @throws Unlowerable if the value may need more than 32 bits */
export function checkWide(wide: Wide | undefined, at: Location): void {
  if (wide === "wraps")
    throw new Unlowerable(at, "integer(8)", "it needs 64-bit arithmetic, and kernels have 32-bit integers only", "use integer(4)");
}
