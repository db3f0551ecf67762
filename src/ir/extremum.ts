import { identityOf } from "./identity.js";
import { literal } from "./simplify.js";
import { isFloat } from "./scalars.js";
import type { CompareFn, Expr, JointFold, NumericType } from "./types.js";

/** Names of locals that hold a value and its place. */
type Placed = readonly [value: string, index: string];

/** The place of no value: an extremum of nothing is the identity of its operation, there. */
export const NOWHERE = -1;

/**
 * The fold of two values and their places: NaN comes first, then the lesser value (the greater one of `max`), then the smaller index; -0 and 0 tie. Any
 * order of folds gives the same bits.
 */
export function extremumBodies(op: "min" | "max", type: NumericType, a: Placed, b: Placed): JointFold["bodies"] {
  const local = (name: string, of: NumericType): Expr => ({ op: "local", type: of, name });
  const [value, index] = [local(a[0], type), local(a[1], "i32")];
  const [other, otherIndex] = [local(b[0], type), local(b[1], "i32")];
  const compare = (fn: CompareFn, x: Expr, y: Expr): Expr => ({ op: "compare", type: "bool", fn, a: x, b: y });
  const both = (x: Expr, y: Expr): Expr => ({ op: "logical", type: "bool", fn: "and", a: x, b: y });
  const either = (x: Expr, y: Expr): Expr => ({ op: "logical", type: "bool", fn: "or", a: x, b: y });
  const choose = (cond: Expr, x: Expr, y: Expr): Expr => ({ op: "select", type: x.type, cond, a: x, b: y });
  const [nowhere, last] = [literal("i32", NOWHERE), literal(type, identityOf(op, type))];
  const smaller = compare("lt", otherIndex, index);
  // Nothing comes after all else: a value that equals the identity has a place.
  const somewhere = both(compare("ne", otherIndex, nowhere), either(compare("eq", index, nowhere), smaller));
  const tied = both(compare("eq", other, value), choose(compare("eq", value, last), somewhere, smaller));
  const ordered = either(compare(op === "min" ? "lt" : "gt", other, value), tied);
  const isNaN = (x: Expr): Expr => compare("ne", x, x);
  const isNumber = (x: Expr): Expr => ({ op: "unary", type: "bool", fn: "not", a: isNaN(x) });
  const takes = isFloat(type) ? choose(isNaN(other), either(isNumber(value), smaller), ordered) : ordered;
  return [choose(takes, other, value), choose(takes, otherIndex, index)];
}
