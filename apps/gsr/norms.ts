/** Estimates of the iteration: norms of b, A, r = b - A x, A^T r and x, and of D = (d_1, ..., d_k), whose product with |A| is cond(A). */
export interface Norms {
  bnorm: number;
  anorm: number;
  rnorm: number;
  arnorm: number;
  xnorm: number;
  dnorm: number;
}

/** The end of a side's solution, with the norms there. */
export interface Ended extends Norms {
  /** The number of the reason in `STOP_REASONS`; -1 where `pause` has ended it. */
  istop: number;
  iterations: number;
  /** Estimate of cond(A). */
  acond: number;
}
