import { f64, kernel, sum, view } from "isoform";
import { bySides } from "./sides.js";

/*
 * Vector operations of the solver. Scalars that an iteration computes stay on the device: they come as views of one element, or one a side.
 */

export const scale = kernel("scale", { factor: view(f64), x: view(f64) }, ({ factor, x }, i) => {
  x[i] *= factor[0];
});

export const squaredNorm = kernel("squaredNorm", { x: view(f64), result: sum(f64) }, ({ x, result }, i) => {
  result.add(x[i] * x[i]);
});

/** The squared norm of each side. */
export const squaredNorms = bySides((sides) =>
  kernel(
    "squaredNorm",
    { x: view(f64, 2), result: sum(f64, sides) },
    ({ x, result }, i) => {
      for (let side = 0; side < sides; side++) result.add(side, x[i][side] * x[i][side]);
    },
    () => [sides],
  ),
);

/** p: sums of squares on entry, 1 / norm on exit; counts the columns that are empty (their p stays 0). */
export const inverseNorms = kernel("inverseNorms", { p: view(f64), empty: sum(f64) }, ({ p, empty }, j) => {
  const square = p[j];
  empty.add(square > 0 ? 0 : 1);
  p[j] = square > 0 ? 1 / Math.sqrt(square) : 0;
});

/** The first direction: v := v / alpha, w := v; over all elements of all sides. */
export const firstDirection = bySides((sides) =>
  kernel(
    "firstDirection",
    { inverseAlpha: view(f64), v: view(f64), w: view(f64) },
    ({ inverseAlpha, v, w }, i) => {
      const direction = v[i] * inverseAlpha[sides === 1 ? 0 : i % sides];
      v[i] = direction;
      w[i] = direction;
    },
    () => [sides],
  ),
);

/**
 * With d = w / rho: x += (phi/rho) w, variance += d^2, v := v / alpha, w := v - (theta/rho) w, as in Paige and Saunders; over all elements of all sides. Of
 * several sides those that have ended keep x and variance.
 */
export const update = bySides((sides) =>
  kernel(
    "update",
    {
      runs: view(f64),
      inverseAlpha: view(f64),
      inverseRho: view(f64),
      xStep: view(f64),
      wStep: view(f64),
      v: view(f64),
      w: view(f64),
      x: view(f64),
      variance: view(f64),
    },
    ({ runs, inverseAlpha, inverseRho, xStep, wStep, v, w, x, variance }, i) => {
      const side = sides === 1 ? 0 : i % sides;
      const old = w[i];
      const d = old * inverseRho[side];
      const direction = v[i] * inverseAlpha[side];
      if (sides === 1 || runs[side] > 0) {
        x[i] += xStep[side] * old;
        variance[i] += d * d;
      }
      v[i] = direction;
      w[i] = direction - wStep[side] * old;
    },
    () => [sides],
  ),
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
