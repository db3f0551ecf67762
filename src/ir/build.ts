import type { BinaryFn, CompareFn, Expr, Location, ScalarType, Stmt } from "./types.js";

/* Short names for building code by hand. */

export const int = (value: number): Expr => ({ op: "const", type: "i32", value });
export const truth = (value: boolean): Expr => ({ op: "const", type: "bool", value });
export const indexOf = (axis: number): Expr => ({ op: "index", type: "i32", axis });
export const localOf = (name: string, type: ScalarType): Extract<Expr, { op: "local" }> => ({ op: "local", type, name });
export const scalarOf = (name: string, type: ScalarType): Expr => ({ op: "param", type, name });
export const loadInt = (view: string, ...indices: Expr[]): Expr => ({ op: "load", type: "i32", view, indices });
export const cast = (type: ScalarType, a: Expr): Expr => ({ op: "cast", type, a });
export const choose = (cond: Expr, a: Expr, b: Expr): Expr => ({ op: "select", type: a.type, cond, a, b });
export const compare = (fn: CompareFn, a: Expr, b: Expr): Expr => ({ op: "compare", type: "bool", fn, a, b });
export const differs = (a: Expr, b: Expr): Expr => compare("ne", a, b);
export const define = (name: string, init: Expr, location: Location): Stmt => ({ kind: "let", name, type: init.type, init, location });

const binary =
  (fn: BinaryFn) =>
  (a: Expr, b: Expr | number): Expr => ({ op: "binary", type: a.type, fn, a, b: typeof b === "number" ? int(b) : b });

/* Of two i32, the second perhaps a constant. */
export const plus = binary("add");
export const minus = binary("sub");
export const times = binary("mul");
export const bits = binary("and");
export const right = binary("shr");
export const left = binary("shl");
