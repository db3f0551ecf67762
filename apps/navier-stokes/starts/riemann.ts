/*
 * The exact solution of Riemann's problem of a calorically perfect gas (Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, chapter 4).
 */

/** Density, velocity and pressure. */
export interface State1D {
  readonly rho: number;
  readonly u: number;
  readonly p: number;
}

/** Solution over s = (x - x0)/t. Throws RangeError if a vacuum would open. */
export function riemann(left: State1D, right: State1D, gamma: number): (s: number) => State1D {
  const sound = ({ rho, p }: State1D): number => Math.sqrt((gamma * p) / rho);
  const [cl, cr] = [sound(left), sound(right)];
  if ((2 * (cl + cr)) / (gamma - 1) <= right.u - left.u)
    throw new RangeError("a vacuum opens between these states: choose velocities that are closer");
  const ratio = (gamma - 1) / (gamma + 1);

  /** How far the velocity changes through the wave beside a state, where the pressure between the waves is p. */
  const change = (state: State1D, p: number): number =>
    p > state.p
      ? (p - state.p) * Math.sqrt(2 / (gamma + 1) / state.rho / (p + ratio * state.p))
      : ((2 * sound(state)) / (gamma - 1)) * ((p / state.p) ** ((gamma - 1) / (2 * gamma)) - 1);
  const miss = (p: number): number => change(left, p) + change(right, p) + right.u - left.u;

  // The changes grow with the pressure, so halving finds it to the last bits.
  let [low, high] = [0, Math.max(left.p, right.p)];
  while (miss(high) < 0) high *= 2;
  for (let n = 0; n < 200; n++) {
    const middle = 0.5 * (low + high);
    if (miss(middle) < 0) low = middle;
    else high = middle;
  }
  const p = 0.5 * (low + high);
  const u = 0.5 * (left.u + right.u + change(right, p) - change(left, p));

  /** The solution on the side of `state`, which is the left one; s and velocities count to the right. */
  const side = (state: State1D, between: number, s: number): State1D => {
    const c = sound(state);
    if (p > state.p) {
      const speed = state.u - c * Math.sqrt(((gamma + 1) / (2 * gamma)) * (p / state.p) + (gamma - 1) / (2 * gamma));
      if (s <= speed) return state;
      const jump = p / state.p;
      return { rho: (state.rho * (jump + ratio)) / (ratio * jump + 1), u: between, p };
    }
    if (s <= state.u - c) return state;
    const behind = c * (p / state.p) ** ((gamma - 1) / (2 * gamma));
    if (s >= between - behind) return { rho: state.rho * (p / state.p) ** (1 / gamma), u: between, p };
    const local = (2 / (gamma + 1)) * c + ratio * (state.u - s);
    return {
      rho: state.rho * (local / c) ** (2 / (gamma - 1)),
      u: (2 / (gamma + 1)) * (c + ((gamma - 1) / 2) * state.u + s),
      p: state.p * (local / c) ** ((2 * gamma) / (gamma - 1)),
    };
  };
  return (s) => {
    if (s <= u) return side(left, u, s);
    const mirrored = side({ ...right, u: -right.u }, -u, -s);
    return { ...mirrored, u: -mirrored.u };
  };
}
