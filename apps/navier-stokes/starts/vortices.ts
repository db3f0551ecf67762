/*
 * Flows in periodic boxes at the start: density, velocity and pressure at a point.
 */

export interface PointState {
  readonly rho: number;
  readonly velocity: readonly [u: number, v: number, w: number];
  readonly p: number;
}

/** Edge of the vortex' box. */
const VORTEX_BOX = 16;
/** The stream that carries the vortex. */
const VORTEX_STREAM = [1, 0.5] as const;

/**
 * A vortex of strength beta without changes of entropy, in the middle of a box of 16 x 16 at time 0, that moves with a stream (1, 0.5) and does not
 * change (Shu, ICASE report 97-65, 1997).
 */
export function isentropicVortex(x: number, y: number, time = 0, { beta = 5, gamma = 1.4 } = {}): PointState {
  const away = (value: number, speed: number): number => {
    const distance = value - VORTEX_BOX / 2 - speed * time;
    return distance - VORTEX_BOX * Math.round(distance / VORTEX_BOX);
  };
  const [dx, dy] = [away(x, VORTEX_STREAM[0]), away(y, VORTEX_STREAM[1])];
  const square = dx ** 2 + dy ** 2;
  const swirl = (beta / (2 * Math.PI)) * Math.exp(0.5 * (1 - square));
  const T = 1 - ((gamma - 1) * beta ** 2 * Math.exp(1 - square)) / (8 * gamma * Math.PI ** 2);
  const rho = T ** (1 / (gamma - 1));
  return { rho, velocity: [VORTEX_STREAM[0] - swirl * dy, VORTEX_STREAM[1] + swirl * dx, 0], p: rho * T };
}

/** Vortices of one wave length in a box of edge 2 pi, at temperature 1 (Taylor and Green, Proc. R. Soc. A 158, 1937). */
export function taylorGreen(x: number, y: number, z: number, u0: number): PointState {
  const p = 1 + (u0 ** 2 * (Math.cos(2 * x) + Math.cos(2 * y)) * (Math.cos(2 * z) + 2)) / 16;
  return {
    rho: p,
    velocity: [u0 * Math.sin(x) * Math.cos(y) * Math.cos(z), -u0 * Math.cos(x) * Math.sin(y) * Math.cos(z), 0],
    p,
  };
}
