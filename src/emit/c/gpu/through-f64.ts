import { LIBRARY, type LibraryFn } from "../dialect.js";

/** f32 functions that GPUs' libraries give with more than 2 ulp of error (CUDA C++ Programming Guide, mathematical functions appendix). */
const THROUGH_F64: readonly LibraryFn[] = ["tan", "atan2", "sinh", "hypot"];
const OF_ONE: readonly LibraryFn[] = ["tan", "sinh", "sqrt"];

/** The name of an f32 function that is computed in f64; undefined for the others. */
export const throughF64 = (fn: LibraryFn): string | undefined => (THROUGH_F64.includes(fn) ? inF64(fn) : undefined);

/** The name of an f32 function whose definition computes in f64. */
export const inF64 = (fn: LibraryFn): string => `${LIBRARY[fn]}_f32`;

/** Definitions of the functions that `source` calls, each after `prefix`. */
export function definitionsThroughF64(source: string, prefix: string): string[] {
  return [...THROUGH_F64, "sqrt" as const]
    .filter((fn) => source.includes(`${inF64(fn)}(`))
    .map((fn) =>
      OF_ONE.includes(fn)
        ? `${prefix} float ${inF64(fn)}(float a) { return (float)${LIBRARY[fn]}((double)a); }`
        : `${prefix} float ${inF64(fn)}(float a, float b) { return (float)${LIBRARY[fn]}((double)a, (double)b); }`,
    );
}
