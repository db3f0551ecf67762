import { riemann, type State1D } from "./riemann.js";

/*
 * Flows along one axis between open ends.
 */

export interface Tube {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** When the case is looked at. */
  readonly time: number;
  /** Mach number of reference. */
  readonly mach: number;
  readonly gamma: number;
  /** The flow at the start. */
  start(x: number): State1D;
  /** The exact solution, where it is known. */
  exact?(x: number, time: number): State1D;
}

const GAMMA = 1.4;

function sodTube(): Tube {
  const [left, right] = [
    { rho: 1, u: 0, p: 1 },
    { rho: 0.125, u: 0, p: 0.1 },
  ];
  const solution = riemann(left, right, GAMMA);
  const start = (x: number): State1D => (x < 0.5 ? left : right);
  const exact = (x: number, time: number): State1D => (time === 0 ? start(x) : solution((x - 0.5) / time));
  return { name: "sod", from: 0, to: 1, time: 0.2, mach: 1, gamma: GAMMA, start, exact };
}

/** A gas at rest that a diaphragm divides (Sod, J. Comput. Phys. 27, 1978). */
export const sod: Tube = sodTube();

/** A shock of Mach number 3 that runs into waves of density (Shu and Osher, J. Comput. Phys. 83, 1989). */
export const shuOsher: Tube = {
  name: "shu-osher",
  from: -5,
  to: 5,
  time: 1.8,
  mach: 3,
  gamma: GAMMA,
  start: (x) => (x < -4 ? { rho: 27 / 7, u: (4 * Math.sqrt(35)) / 9, p: 31 / 3 } : { rho: 1 + 0.2 * Math.sin(5 * x), u: 0, p: 1 }),
};
