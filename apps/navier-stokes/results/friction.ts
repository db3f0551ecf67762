/*
 * Friction and thicknesses of a mean profile, and laws to compare profiles with.
 */

/** Means over a wall, at heights above it. */
export interface MeanProfile {
  /** Heights of the points. */
  readonly y: ArrayLike<number>;
  readonly u: ArrayLike<number>;
  readonly rho: ArrayLike<number>;
  readonly T: ArrayLike<number>;
}

/** State of the wall and of the stream. */
export interface Wall {
  readonly temperature: number;
  readonly viscosity: number;
  /** Pressure at the wall, with a gas constant of 1. */
  readonly pressure: number;
  readonly prandtl: number;
  /** Heat capacity at constant pressure by mass. */
  readonly heat: number;
  /** Speed of reference for the friction coefficient: the free stream's or the bulk's. */
  readonly speed: number;
  readonly density: number;
  /** Thickness of the outer flow: half the channel's height, or the layer's thickness. */
  readonly thickness: number;
}

export interface Friction {
  /** Shear stress at the wall. */
  readonly stress: number;
  readonly cf: number;
  /** Heat that flows into the wall. */
  readonly heatFlux: number;
  /** Friction velocity. */
  readonly velocity: number;
  /** Viscous length. */
  readonly length: number;
  readonly reTau: number;
}

/** Friction and heat flux, by the differences between the first point and the wall. */
export function frictionOf({ y, u, T }: Pick<MeanProfile, "y" | "u" | "T">, wall: Wall): Friction {
  const density = wall.pressure / wall.temperature;
  const stress = (wall.viscosity * u[0]) / y[0];
  const velocity = Math.sqrt(Math.abs(stress) / density);
  const length = wall.viscosity / density / velocity;
  return {
    stress,
    cf: stress / (0.5 * wall.density * wall.speed ** 2),
    heatFlux: ((wall.viscosity * wall.heat) / wall.prandtl) * ((T[0] - wall.temperature) / y[0]),
    velocity,
    length,
    reTau: wall.thickness / length,
  };
}

/** The profile in units of the wall, and the velocity that van Driest's transformation makes of it: the integral of sqrt(rho/rho_w) du. */
export function inWallUnits({ y, u, rho }: MeanProfile, wall: Wall, { velocity, length }: Friction) {
  const wallDensity = wall.pressure / wall.temperature;
  const count = y.length;
  const [yPlus, uPlus, vanDriest] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  let sum = 0;
  for (let j = 0; j < count; j++) {
    yPlus[j] = y[j] / length;
    uPlus[j] = u[j] / velocity;
    const [before, densityBefore] = j === 0 ? [0, wallDensity] : [u[j - 1], rho[j - 1]];
    sum += 0.5 * (Math.sqrt(rho[j] / wallDensity) + Math.sqrt(densityBefore / wallDensity)) * (u[j] - before);
    vanDriest[j] = sum / velocity;
  }
  return { yPlus, uPlus, vanDriest };
}

/** Mean velocity of a channel at Re_tau 178.12 (Moser, Kim and Mansour, Phys. Fluids 11, 1999): y+ and U+. */
export const MOSER_180: readonly (readonly [yPlus: number, uPlus: number])[] = [
  [2.62, 2.594],
  [5.34, 5.113],
  [8.99, 7.905],
  [13.56, 10.311],
  [19.02, 12.066],
  [30.02, 13.87],
  [46.14, 15.101],
  [65.12, 15.993],
  [98.04, 17.094],
  [134.84, 17.911],
  [173.75, 18.297],
];

/** The viscous sublayer, and the logarithmic law beyond y+ = 11. */
export const lawOfTheWall = (yPlus: number): number => (yPlus < 11 ? yPlus : Math.log(yPlus) / 0.41 + 5.2);

/** Constants of the laminar layer without changes of density: cf sqrt(Re_x), and displacement and momentum thickness by x/sqrt(Re_x). */
export const BLASIUS = { friction: 0.66411, displacement: 1.7208, momentum: 0.66411, shape: 2.591 } as const;
