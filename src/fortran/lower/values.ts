import { isInteger, wrap } from "../../ir/scalars.js";
import { binary, cast, compare, constant, int } from "../../ir/expressions.js";
import type { NumberElement, Expr, Location, NumberType, ScalarType } from "../../ir/types.js";
import type { Variable } from "../analyse/symbols.js";
import { variableName } from "../analyse/walk.js";
import type { Expr as Tree } from "../tree/index.js";

/* Types of values, and what cannot be lowered. */

/** Fortran that kernels cannot express; becomes a problem at its place. */
export class Unlowerable extends Error {
  constructor(
    readonly at: Location,
    readonly construct: string,
    readonly why: string,
    readonly remedy?: string,
  ) {
    super(why);
  }
}

/** Real numbers win over integers, 8 bytes over 4. */
export function promoted(a: ScalarType, b: ScalarType): ScalarType {
  for (const type of ["f64", "f32"] as const) if (a === type || b === type) return type;
  return a;
}

/** A value in another type, by Fortran's rules of assignment. */
export function converted(type: ScalarType, e: Expr, at: Location, construct = "assignment"): Expr {
  if (e.type === type) return e;
  if (type === "bool" || e.type === "bool")
    throw new Unlowerable(at, construct, "a logical value and a number are mixed", "write a comparison, or merge(1, 0, …)");
  if (e.op === "const") {
    const value = isInteger(type) ? Math.trunc(Number(e.value)) : Number(e.value);
    if (isInteger(type) && value !== wrap(type as NumberType, value))
      throw new Unlowerable(at, construct, `${value} is not a 32-bit integer`, "keep it in a real variable");
    return constant(type, value);
  }
  return cast(type, e);
}

/** Logical values are integers in memory. */
export const fromMemory = (type: ScalarType, e: Expr): Expr => (type === "bool" ? compare("ne", e, 0) : e);
export const toMemory = (e: Expr): Expr => (e.type === "bool" ? cast("i32", e) : e);
export const memoryType = (type: ScalarType): NumberType => (type === "bool" ? "i32" : (type as NumberType));

/** Type in which arrays of the program are stored in memory. */
export const elementType = ({ type, byte }: Pick<Variable, "type" | "byte">): NumberElement => (byte ? "u8" : memoryType(type));

/** Value that an 8-bit integer keeps. */
export const signedByte = (e: Expr): Expr => binary("shr", binary("shl", e, int(24)), int(24));

export const ZERO = int(0);
export const ONE = int(1);

export const treeName = (e: Tree): string =>
  e.kind === "name" || e.kind === "part" ? variableName(e) : e.kind === "apply" ? variableName(e.base) : e.kind;
