import { f64, kernel, sum, view } from "isoform";

/*
 * Vector operations of the solver. Scalars that an iteration computes stay on the device: they come as views of one element.
 */

export const scale = kernel("scale", { factor: view(f64), x: view(f64) }, ({ factor, x }, i) => {
  x[i] *= factor[0];
});

export const squaredNorm = kernel("squaredNorm", { x: view(f64), result: sum(f64) }, ({ x, result }, i) => {
  result.add(x[i] * x[i]);
});

/** p: sums of squares on entry, 1 / norm on exit; counts the columns that are empty (their p stays 0). */
export const inverseNorms = kernel("inverseNorms", { p: view(f64), empty: sum(f64) }, ({ p, empty }, j) => {
  const square = p[j];
  empty.add(square > 0 ? 0 : 1);
  p[j] = square > 0 ? 1 / Math.sqrt(square) : 0;
});

/** The first direction: v := v / alpha, w := v. */
export const firstDirection = kernel(
  "firstDirection",
  { inverseAlpha: view(f64), v: view(f64), w: view(f64) },
  ({ inverseAlpha, v, w }, j) => {
    const direction = v[j] * inverseAlpha[0];
    v[j] = direction;
    w[j] = direction;
  },
);

/** With d = w / rho: x += (phi/rho) w, variance += d^2, v := v / alpha, w := v - (theta/rho) w, as in Paige and Saunders. */
export const update = kernel(
  "update",
  {
    inverseAlpha: view(f64),
    inverseRho: view(f64),
    xStep: view(f64),
    wStep: view(f64),
    v: view(f64),
    w: view(f64),
    x: view(f64),
    variance: view(f64),
  },
  ({ inverseAlpha, inverseRho, xStep, wStep, v, w, x, variance }, j) => {
    const old = w[j];
    const d = old * inverseRho[0];
    const direction = v[j] * inverseAlpha[0];
    x[j] += xStep[0] * old;
    variance[j] += d * d;
    v[j] = direction;
    w[j] = direction - wStep[0] * old;
  },
);

/** Undoes the column scaling and turns variances into standard errors, in place. */
export const finish = kernel("finish", { p: view(f64), sigma: f64, x: view(f64), variance: view(f64) }, ({ p, sigma, x, variance }, j) => {
  x[j] *= p[j];
  variance[j] = sigma * Math.sqrt(variance[j]) * p[j];
});

/** Scales unknowns as the columns were: v := x / p, and 0 for an empty column, whose p is 0. */
export const rescale = kernel("rescale", { p: view(f64), x: view(f64), v: view(f64) }, ({ p, x, v }, j) => {
  v[j] = p[j] > 0 ? x[j] / p[j] : 0;
});
