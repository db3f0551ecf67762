import { placeOf, uniform } from "../../../apps/navier-stokes/equations/axes.js";
import { gasOf, velocityOf } from "../../../apps/navier-stokes/equations/gas.js";
import type { Scheme } from "../../../apps/navier-stokes/equations/model.js";
import type { Flow } from "../../../apps/navier-stokes/simulation/simulation.js";

/* Flows in periodic boxes, whose ends are known. */

const js = { weights: "js", splitting: "roe", threshold: -1 } as const;
const central = { splitting: 0, viscous: "none" } as const;

export const SCHEMES = {
  c2: { ...central, order: 2 },
  c4: { ...central, order: 4 },
  c6: { ...central, order: 6 },
  c8: { ...central, order: 8 },
  KEP6: { ...central, order: 6, splitting: -1 },
  WENO5: { ...central, order: 6, weno: { ...js, halfWidth: 3 } },
  WENO7: { ...central, order: 8, weno: { ...js, halfWidth: 4 } },
} as const satisfies Record<string, Scheme>;

const inviscid = gasOf({ viscosity: "constant" }, 0);
const { gamma } = inviscid;
const GHOSTS = 4;

export const energy = (rho: number, T: number, ...u: readonly number[]): number =>
  rho * (T / (gamma - 1) + 0.5 * u.reduce((sum, v) => sum + v * v, 0));

const WIDTH = 16;
const STRENGTH = 5;

/** An isentropic vortex of strength 5 in a stream (Shu, 1998), in a box of 16 x 16; conserved values k at time t. */
function vortexAt(t: number, x: number, y: number, k: number): number {
  const from = (d: number): number => d - WIDTH * Math.round(d / WIDTH);
  const [dx, dy] = [from(x - 8 - t), from(y - 8 - 0.5 * t)];
  const core = Math.exp(1 - dx * dx - dy * dy);
  const T = 1 - ((gamma - 1) * STRENGTH ** 2 * core) / (8 * gamma * Math.PI ** 2);
  const spin = (STRENGTH / (2 * Math.PI)) * Math.sqrt(core);
  const [rho, u, v] = [T ** (1 / (gamma - 1)), 1 - spin * dy, 0.5 + spin * dx];
  return [rho, rho * u, rho * v, 0, energy(rho, T, u, v)][k];
}

export function vortex(n: number, scheme: Scheme): Flow {
  const along = uniform(n, WIDTH, GHOSTS, { periodic: true });
  return {
    axes: [along, along, uniform(1, 1, GHOSTS, { periodic: true })],
    gas: inviscid,
    scheme,
    reference: { speed: velocityOf(inviscid, 1), length: 1 },
    step: { dt: 0.01 },
    initial: (x, y, _z, k) => vortexAt(0, x, y, k),
  };
}

/** Root mean square of what the density has gone wrong by at time t. */
export function vortexError(w: ArrayLike<number>, { axes: [along] }: Flow, t: number): number {
  const n = along.points.length - 2 * GHOSTS;
  let sum = 0;
  for (let j = 0; j < n; j++)
    for (let i = 0; i < n; i++) sum += (w[5 * (i + n * j)] - vortexAt(t, placeOf(along, i), placeOf(along, j), 0)) ** 2;
  return Math.sqrt(sum) / n;
}

export const TAYLOR_GREEN_SPEED = velocityOf(inviscid, 0.2);

/** The vortex of Taylor and Green at M 0.2 in a box of 2 pi, of constant viscosity. */
export function taylorGreen(n: number, reynolds: number, scheme: Scheme): Flow {
  const along = uniform(n, 2 * Math.PI, GHOSTS, { periodic: true });
  const u0 = TAYLOR_GREEN_SPEED;
  return {
    axes: [along, along, along],
    gas: gasOf({ viscosity: "constant" }, u0 / reynolds),
    scheme,
    reference: { speed: u0, length: 1 },
    step: { dt: 1 / 62 / u0 },
    initial(x, y, z, k) {
      const p = 1 + (u0 * u0 * (Math.cos(2 * x) + Math.cos(2 * y)) * (Math.cos(2 * z) + 2)) / 16;
      const [u, v] = [u0 * Math.sin(x) * Math.cos(y) * Math.cos(z), -u0 * Math.cos(x) * Math.sin(y) * Math.cos(z)];
      return [p, p * u, p * v, 0, energy(p, 1, u, v)][k];
    },
  };
}

/** Sums of the five conserved values. */
export function totals(w: ArrayLike<number>): number[] {
  const sums = [0, 0, 0, 0, 0];
  for (let n = 0; n < w.length; n++) sums[n % 5] += w[n];
  return sums;
}

/** Mean kinetic energy by volume. */
export function kineticEnergy(w: ArrayLike<number>): number {
  let sum = 0;
  for (let n = 0; n < w.length; n += 5) sum += (0.5 * (w[n + 1] ** 2 + w[n + 2] ** 2 + w[n + 3] ** 2)) / w[n];
  return (5 * sum) / w.length;
}

/**
 * Mean enstrophy by volume, half of the square of the vorticity, in a box of edge 2 pi with n cells along each axis, n even. Derivatives are Fourier's,
 * and the wave of two cells counts like all others: its derivative is imaginary.
 */
export function enstrophy(w: ArrayLike<number>, n: number): number {
  const strides = [1, n, n * n];
  const velocity = [1, 2, 3].map((k) => Float64Array.from({ length: n ** 3 }, (_, c) => w[5 * c + k] / w[5 * c]));
  const square = (a: Float64Array, b: Float64Array): number => a.reduce((sum, value, c) => sum + (value - b[c]) ** 2, 0);
  /** By a part of the derivative: what values so many cells before count. */
  const sumOf = (part: Float64Array): number => {
    const slope = (of: number, axis: number): Float64Array => {
      const [values, stride] = [velocity[of], strides[axis]];
      return values.map((_, c) => {
        const at = Math.floor(c / stride) % n;
        const first = c - at * stride;
        let sum = 0;
        for (let m = 0; m < n; m++) sum += part[(at - m + n) % n] * values[first + m * stride];
        return sum;
      });
    };
    return [0, 1, 2].reduce((sum, k) => sum + square(slope((k + 2) % 3, (k + 1) % 3), slope((k + 1) % 3, (k + 2) % 3)), 0);
  };
  const real = Float64Array.from({ length: n }, (_, m) => (m === 0 ? 0 : (0.5 * (-1) ** m) / Math.tan((Math.PI * m) / n)));
  const imaginary = Float64Array.from({ length: n }, (_, m) => 0.5 * (-1) ** m);
  return (0.5 * (sumOf(real) + sumOf(imaginary))) / n ** 3;
}
