import type { Typed } from "./expressions.js";
import type { Expr, Location, ScalarType, Stmt } from "./types.js";

/* Nodes that name what they read and declare, for code that has names and no parameters at hand. */

/** The value of a local. */
export const localOf = (name: string, type: ScalarType): Extract<Expr, { op: "local" }> => ({ op: "local", type, name });
/** The value of a scalar parameter. */
export const paramOf = (name: string, type: ScalarType): Expr => ({ op: "param", type, name });
export const loadInt = (view: string, ...indices: Expr[]): Typed<"i32"> => ({ op: "load", type: "i32", view, indices });
export const define = (name: string, init: Expr, location: Location): Stmt => ({ kind: "let", name, type: init.type, init, location });
