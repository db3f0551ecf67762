/** Deviation of a solution from the exact one, over eps_j = x_j - exact_j. */
export interface Deviation {
  /** Sums divided by the number of unknowns. */
  mean: number;
  rms: number;
  max: number;
  /**
   * Figures that the published program prints: sums over all unknowns divided by the number of attitude and instrument unknowns, m, and as "rms" the
   * spread about its mean: mean = sum eps / m, rms = sqrt(sum eps^2 / m - mean^2).
   */
  published: { mean: number; rms: number };
}

/** Compares a solution with the exact one, by default 1. `shared` is the number of unknowns that stars share. */
export function deviation(x: ArrayLike<number>, shared: number, exact?: ArrayLike<number>): Deviation {
  let sum = 0;
  let squares = 0;
  let max = 0;
  for (let j = 0; j < x.length; j++) {
    const eps = x[j] - (exact ? exact[j] : 1);
    sum += eps;
    squares += eps * eps;
    max = Math.max(max, Math.abs(eps));
  }
  const mean = sum / shared;
  return {
    mean: sum / x.length,
    rms: Math.sqrt(squares / x.length),
    max,
    published: { mean, rms: Math.sqrt(squares / shared - mean * mean) },
  };
}
