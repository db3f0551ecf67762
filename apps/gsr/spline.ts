import { helper } from "isoform";

/**
 * Writes the four cubic B-splines over equal intervals, times six, at place `f` of the one in which a row lies (0 at its begin, 1 at its end), to `spline`. They
 * add up to 6 for every f.
 */
export const sixSplinesAt = helper((f: number, spline: Float64Array): void => {
  const g = 1 - f;
  spline[0] = g * g * g;
  spline[1] = 3 * f * f * f - 6 * f * f + 4;
  spline[2] = 3 * g * g * g - 6 * g * g + 4;
  spline[3] = f * f * f;
});
