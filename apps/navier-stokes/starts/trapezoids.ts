/*
 * Integrals by the trapezoidal rule.
 */

/** The integral of f dx from the first point to each one. */
export function cumulative(f: ArrayLike<number>, x: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(x.length);
  for (let j = 1; j < x.length; j++) sums[j] = sums[j - 1] + 0.5 * (f[j] + f[j - 1]) * (x[j] - x[j - 1]);
  return sums;
}

/** The integral of f dx over all points. */
export function integral(f: ArrayLike<number>, x: ArrayLike<number>): number {
  let sum = 0;
  for (let j = 1; j < x.length; j++) sum += 0.5 * (f[j] + f[j - 1]) * (x[j] - x[j - 1]);
  return sum;
}
