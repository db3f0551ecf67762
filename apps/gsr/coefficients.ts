import type { Precision } from "isoform";
import { LaunchError, f32, f64, helper } from "isoform";
import { bySides } from "./sides.js";

/*
 * Coefficients as sweeps and copies read them: in f64, or rounded to f32, half the bytes. Vectors and sums are f64 either way; what rounding has moved in the
 * solution is corrected with the coefficients in f64, which stay on the device (refinement.ts).
 */

/** Types of coefficients. */
export const COEFFICIENTS = ["f64", "f32"] as const;
/** Type that coefficients of observations have in an iteration. */
export type CoefficientType = (typeof COEFFICIENTS)[number];

/** Types by name, for kernels. */
export const REALS = { f32, f64 };

/** A kernel made once for each type of coefficients and number of sides; it reads coefficients of the type that it gets. */
export function byCoefficients<T>(
  make: (real: (typeof REALS)[CoefficientType], sides: number) => T,
): (type: CoefficientType, sides: number) => T {
  const made = {
    f32: bySides((sides) => make(REALS.f32, sides)),
    f64: bySides((sides) => make(REALS.f64, sides)),
  };
  return (type, sides) => made[type](sides);
}

/** Rounds a number that a copy stores to the copy's type. */
export const ROUND = { f32: helper((x: number): number => Math.fround(x)), f64: helper((x: number): number => x) };

/** Bytes of a coefficient. */
export const coefficientBytes = (type: CoefficientType): number => (type === "f32" ? 4 : 8);

/** Throws LaunchError where coefficients cannot be f32: with the published program's form, in strict mode, and where the frame is free. */
export function requireCoefficients(type: CoefficientType, precision: Precision, form: string, frameIsFixed: boolean): void {
  if (type === "f64") return;
  if (precision === "strict")
    throw new LaunchError(
      "strict mode has no coefficients in f32, as it gives the bits of f64: take --coefficients f64, or --precision fast",
    );
  if (form === "paper")
    throw new LaunchError(`the form paper is the published program's, with coefficients in f64: take --coefficients f64, or another form`);
  if (!frameIsFixed)
    throw new LaunchError("the frame is free, and rounded coefficients would turn it: leave --frame on, or take --coefficients f64");
}
