import { helper } from "isoform";
import type { Values } from "./pointwise.js";

/*
 * Two-point fluxes that keep the balance of kinetic energy: F between cells a and b, whose sums over pairs are central fluxes of any order
 * (Pirozzoli, J. Comput. Phys. 229, 2010). KEP transports the enthalpy; KEEP the internal energy, the kinetic energy as the momentum does, and the pressure's
 * work (Kuya, Totani and Kawai, J. Comput. Phys. 375, 2018); KEEP(n) with the first n terms of the logarithmic means of density and energy.
 */

/** -1: KEP, 0: KEEP, n: KEEP(n). */
export type Splitting = number;

/** Adds `factor` times the flux between two states along axis n to `sum`. */
type AddFlux = (a: Values, b: Values, n: number, factor: number, sum: Values) => void;

export function twoPointFlux(splitting: Splitting): AddFlux {
  /** 1 / (1 + s/3 + s^2/5 + ...): the logarithmic mean of the density over its arithmetic mean. */
  const densityFactor = helper(
    (a: number, b: number): number => {
      const r = (b - a) / (a + b);
      const s = r * r;
      let sum = 1;
      let power = 1;
      for (let k = 1; k <= splitting; k++) {
        power *= s;
        sum += power / (2 * k + 1);
      }
      return 1 / sum;
    },
    () => [splitting],
  );

  /** (1 + t/3 + ...) / (1 + t + ...), of the internal energy. */
  const energyFactor = helper(
    (a: number, b: number): number => {
      const r = (b - a) / (a + b);
      const t = r * r;
      let above = 1;
      let below = 1;
      let power = 1;
      for (let k = 1; k <= splitting; k++) {
        power *= t;
        above += power / (2 * k + 1);
        below += power;
      }
      return above / below;
    },
    () => [splitting],
  );

  return helper(
    (a: Values, b: Values, n: number, factor: number, sum: Values): void => {
      let U = factor * (a[1 + n] + b[1 + n]) * (a[0] + b[0]);
      if (splitting > 0) U *= densityFactor(a[0], b[0]);
      sum[0] += 0.25 * U;
      for (let k = 1; k < 4; k++) sum[k] += 0.125 * U * (a[k] + b[k]);
      sum[1 + n] += 0.5 * factor * (a[4] + b[4]);
      if (splitting < 0) sum[4] += 0.125 * U * (a[6] + b[6]);
      else {
        let carried = a[6] + b[6];
        if (splitting > 0) carried *= energyFactor(a[6], b[6]);
        carried += a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        sum[4] += 0.125 * U * carried + 0.5 * factor * (a[1 + n] * b[4] + b[1 + n] * a[4]);
      }
    },
    () => [splitting, densityFactor, energyFactor],
  );
}
