import { ASTROMETRIC } from "./shape.js";
import type { Probes } from "./probes.js";

/*
 * Covariances of chosen pairs of unknowns, from random probes: of the five parameters of each star, or of pairs that a file names.
 */

/** Pairs of unknowns, which count from 0. */
export interface Pairs {
  readonly first: Int32Array;
  readonly second: Int32Array;
}

/** Covariances of pairs. */
export interface Covariances {
  /** `stars`: the ten pairs of each star, in the order of `STAR_CORRELATIONS`. */
  readonly of: "stars" | "pairs";
  readonly first: ArrayLike<number>;
  readonly second: ArrayLike<number>;
  /** Products of the unknowns' units. */
  readonly values: ArrayLike<number>;
  /** Kind of numbers they are, and how good. */
  readonly label: string;
}

/** Pairs of a star's parameters. */
const OF_A_STAR = Array.from({ length: ASTROMETRIC }, (_, i) =>
  Array.from({ length: ASTROMETRIC - 1 - i }, (_e, k) => [i, i + 1 + k] as const),
).flat();

/** The ten pairs of each star. */
export function starPairs(stars: number): Pairs {
  const at = (which: 0 | 1) =>
    Int32Array.from(
      { length: OF_A_STAR.length * stars },
      (_, n) => ASTROMETRIC * Math.floor(n / OF_A_STAR.length) + OF_A_STAR[n % OF_A_STAR.length][which],
    );
  return { first: at(0), second: at(1) };
}

/** Covariances from probes, mean y_i y_j over the probes; correlations are good to 1/sqrt(k). */
export function covariancesOf({ draws }: Probes, of: Covariances["of"], { first, second }: Pairs): Covariances {
  const values = new Float64Array(first.length);
  for (const draw of draws) for (let n = 0; n < values.length; n++) values[n] += draw[first[n]] * draw[second[n]];
  for (let n = 0; n < values.length; n++) values[n] /= draws.length;
  const accuracy = (1 / Math.sqrt(draws.length)).toPrecision(2);
  return { of, first, second, values, label: `from ${draws.length} probes: correlations are good to ${accuracy}` };
}
