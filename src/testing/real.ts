import type { NumericType } from "../ir/types.js";
import { f32, f64, type ScalarToken } from "../kernel/declare/params.js";

/** The type of a case's floats. */
export type RealToken = typeof f64 | typeof f32;
/** The nearest number of such a type. */
export type Rounding = (x: number) => number;
/** The sum in a type that `r` rounds to. */
export const adding =
  (r: Rounding) =>
  (a: number, b: number): number =>
    r(a + b);

/** A thing of each type of numbers, such as a kernel; made when it is first asked for. */
export function ofType<K, T extends ScalarToken<NumericType> = RealToken>(make: (type: T) => K): (type: T) => K {
  const made = new Map<T, K>();
  return (type) => {
    if (!made.has(type)) made.set(type, make(type));
    return made.get(type)!;
  };
}

/** Private arrays of the type, for kernels. */
export const arrayOf = (real: RealToken): Float64ArrayConstructor | Float32ArrayConstructor => (real === f64 ? Float64Array : Float32Array);
