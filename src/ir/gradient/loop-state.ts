import type { NumericType, ScalarType } from "../scalars.js";

/** The type in which an array keeps values of a type: there are no arrays of truth values. */
export const stateOf = (type: ScalarType): NumericType => (type === "bool" ? "i32" : type);
