import { f32, f64 } from "../kernel/declare/params.js";

/** Tokens of the types of vectors and matrices. To TypeScript both look like f64. */
export const FLOAT_TOKENS = { f64, f32: f32 as unknown as typeof f64 };

/** A kernel for each of these types. Bundlers leave out those that a page does not use. */
/* @__NO_SIDE_EFFECTS__ */
export const bothTypes = <K>(make: (type: "f64" | "f32") => K): Record<"f64" | "f32", K> => ({ f64: make("f64"), f32: make("f32") });
