import { isIndex } from "./scalars.js";
import type { Expr } from "./types.js";

type Exact = Extract<Expr, { op: "binary" }> & { readonly exact: true };

/** The `stop` of a loop that runs for `last`, too: one step of 1 beyond it, even where that leaves i32. */
export function inclusiveStop(last: Expr, step: number): Expr {
  const fn = step > 0 ? "add" : "sub";
  if (last.op === "const" && fits(beyond(last, fn))) return { op: "const", type: "i32", value: beyond(last, fn) };
  return { op: "binary", type: "i32", fn, a: last, b: { op: "const", type: "i32", value: 1 }, exact: true };
}

/** The last value that a loop runs for, of the stop that `inclusiveStop` made; undefined for any other stop. A backend with 32-bit counters needs it. */
export const lastOf = (stop: Expr): Expr | undefined => (isExact(stop) ? stop.a : undefined);

/** Whether an expression is taken without wrapping. */
export const isExact = (expr: Expr): expr is Exact => expr.op === "binary" && expr.exact === true;

/** Whether such an expression is the stop of a loop with this step. */
export const isInclusive = ({ fn, type, b }: Exact, step: number): boolean =>
  isIndex(type) && fn === (step > 0 ? "add" : "sub") && b.op === "const" && b.value === 1;

const beyond = (last: Extract<Expr, { op: "const" }>, fn: "add" | "sub"): number => Number(last.value) + (fn === "add" ? 1 : -1);
const fits = (value: number): boolean => (value | 0) === value;
