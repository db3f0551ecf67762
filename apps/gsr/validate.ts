/** How far a solution is from x = 1, over eps_j = x_j - 1. */
export interface Deviation {
  /** Sums divided by the number of unknowns. */
  mean: number;
  rms: number;
  max: number;
  /** The same sums divided by the number of attitude and instrument unknowns only, as the published program prints them. */
  published: { mean: number; rms: number };
}

/** `shared` is the number of attitude and instrument unknowns. */
export function deviation(x: ArrayLike<number>, shared: number): Deviation {
  let sum = 0;
  let squares = 0;
  let max = 0;
  for (let j = 0; j < x.length; j++) {
    const eps = x[j] - 1;
    sum += eps;
    squares += eps * eps;
    max = Math.max(max, Math.abs(eps));
  }
  return {
    mean: sum / x.length,
    rms: Math.sqrt(squares / x.length),
    max,
    published: { mean: sum / shared, rms: Math.sqrt(squares / shared) },
  };
}
