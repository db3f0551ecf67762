/** f32 functions that GPUs' libraries give with more than 2 ulp of error (CUDA C++ Programming Guide, mathematical functions appendix). */
const THROUGH_F64 = ["tan", "atan2", "sinh", "hypot"];
const OF_ONE = ["tan", "sinh"];

/** The name of an f32 function that is computed in f64; undefined for the others. */
export const throughF64 = (fn: string): string | undefined => (THROUGH_F64.includes(fn) ? `${fn}_f32` : undefined);

/** Definitions of those that `source` calls, each behind `prefix`. */
export function definitionsThroughF64(source: string, prefix: string): string[] {
  return THROUGH_F64.filter((fn) => source.includes(`${fn}_f32(`)).map((fn) =>
    OF_ONE.includes(fn)
      ? `${prefix} float ${fn}_f32(float a) { return (float)${fn}((double)a); }`
      : `${prefix} float ${fn}_f32(float a, float b) { return (float)${fn}((double)a, (double)b); }`,
  );
}
