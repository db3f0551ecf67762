/**
 * Poisson's equation on the unit cube by conjugate gradients, with multigrid or Jacobi's method as preconditioner: `makePoisson`, then `solve` and
 * `errors`.
 * @module
 */
export { DEFAULTS, makePoisson, Poisson, type Errors, type PoissonSettings, type Preconditioner } from "./poisson.js";
export type { Solution, SolveOptions } from "./poisson.js";
export { Manufactured } from "./problem.js";
