import { FIRST_DERIVATIVE } from "../../../apps/navier-stokes/equations/schemes.js";

/** f' at each point i of `count`, of values whose element 0 stands `ghosts` points before point 0. */
export function firstDerivative(values: ArrayLike<number>, ghosts: number, count: number, order: number): Float64Array {
  const c = FIRST_DERIVATIVE[order];
  return Float64Array.from({ length: count }, (_, n) => {
    const i = n + ghosts;
    return c.reduce((sum, weight, l) => sum + weight * (values[i + l + 1] - values[i - l - 1]), 0);
  });
}
