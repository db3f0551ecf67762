import { helper } from "isoform";

/**
 * Writes the four cubic B-splines over equal intervals, at place `f` of the one in which a row lies, to `spline`: from 0 at its begin to 1 at its end. They add
 * up to 1 for every f.
 */
export const splinesAt = helper((f: number, spline: Float64Array): void => {
  const g = 1 - f;
  spline[0] = (g * g * g) / 6;
  spline[1] = (3 * f * f * f - 6 * f * f + 4) / 6;
  spline[2] = (3 * g * g * g - 6 * g * g + 4) / 6;
  spline[3] = (f * f * f) / 6;
});
