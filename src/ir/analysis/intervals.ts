import { unreachable } from "../../base/unreachable.js";
import type { Expr } from "../types.js";
import type { Interval } from "./affine.js";

/* Intervals of integers, and what operators of i32 make of them. */

export const FULL: Interval = [-(2 ** 31), 2 ** 31 - 1];
export const fits = ([low, high]: Interval): boolean => FULL[0] <= low && high <= FULL[1];
/** Range of the values once they have wrapped. */
export const fitting = (range: Interval): Interval => (fits(range) ? range : FULL);

/** Operators whose results may leave i32. */
export type LinearFn = "add" | "sub" | "mul";

/** Values of such an operator before they wrap. */
export function unwrapped(fn: LinearFn, [al, ah]: Interval, [bl, bh]: Interval): Interval {
  switch (fn) {
    case "add":
      return [al + bl, ah + bh];
    case "sub":
      return [al - bh, ah - bl];
    case "mul": {
      const products = [al * bl, al * bh, ah * bl, ah * bh];
      return [Math.min(...products), Math.max(...products)];
    }
    default:
      return unreachable(fn);
  }
}

/** The least interval with both. */
export const hull = (a: Interval, b: Interval): Interval => [Math.min(a[0], b[0]), Math.max(a[1], b[1])];

/** Range of an i32 operator's result, from the ranges of its operands. */
export function combined(fn: Extract<Expr, { op: "binary" }>["fn"], [al, ah]: Interval, [bl, bh]: Interval): Interval {
  switch (fn) {
    case "add":
    case "sub":
    case "mul":
      return fitting(unwrapped(fn, [al, ah], [bl, bh]));
    case "min":
      return [Math.min(al, bl), Math.min(ah, bh)];
    case "max":
      return [Math.max(al, bl), Math.max(ah, bh)];
    case "rem": {
      // The sign of the dividend; 0 where the divisor is.
      const most = Math.max(Math.abs(bl), Math.abs(bh), 1) - 1;
      return [al < 0 ? -Math.min(most, -al) : 0, ah > 0 ? Math.min(most, ah) : 0];
    }
    case "div":
      if (bl < 1) return FULL;
      return [Math.trunc(al / (al < 0 ? bl : bh)), Math.trunc(ah / (ah < 0 ? bh : bl))];
    case "and":
      return al >= 0 && bl >= 0 ? [0, Math.min(ah, bh)] : bl >= 0 ? [0, bh] : al >= 0 ? [0, ah] : FULL;
    case "shr":
      return bl === bh && 0 <= bl && bl < 32 ? [al >> bl, ah >> bl] : FULL;
    // Any other operator may give any value.
    default:
      return FULL;
  }
}

/** The greatest value that an expression of u32 can have. */
export function greatestOf(expr: Expr): number {
  const most = 2 ** 32 - 1;
  if (expr.op === "const") return Number(expr.value);
  if (expr.op !== "binary") return most;
  const by = greatestOf(expr.b);
  if (expr.fn === "rem") return Math.max(0, by - 1);
  if (expr.fn === "and") return Math.min(greatestOf(expr.a), by);
  if (expr.b.op !== "const") return most;
  if (expr.fn === "shr") return greatestOf(expr.a) >>> by;
  return expr.fn === "div" && by > 0 ? Math.floor(greatestOf(expr.a) / by) : most;
}
