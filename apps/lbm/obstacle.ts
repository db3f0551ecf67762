import { LaunchError } from "isoform";
import { FLUID, OUTLET, STREAM } from "./kernels.js";
import { D2Q9, D3Q19 } from "./lattice.js";
import type { Flow } from "./simulation.js";

export interface ObstacleOptions {
  reynolds: number;
  /** Cells of the body's diameter. */
  size: number;
  /** Of the stream, in cells a step. */
  speed?: number;
}

export const STREAM_SPEED = 0.1;

/** In diameters: from the inlet and from the outlet to the body's centre, and the breadth of the stream. */
const CYLINDER_ROOM = { before: 10, behind: 20, across: 24 };
const SPHERE_ROOM = { before: 4, behind: 7, across: 8 };

/**
 * A cylinder across a stream that comes from x = 0 and goes on undisturbed at the sides. The fluid behind the body starts with some motion
 * across, which soon becomes a vortex street.
 */
export function cylinder({ reynolds, size, speed = STREAM_SPEED }: ObstacleOptions): Flow {
  requireRoom(size);
  const { before, behind, across } = CYLINDER_ROOM;
  const [nx, ny] = [(before + behind) * size, across * size];
  const inBody = (x: number, y: number): boolean => Math.hypot(x - centre(before * size), y - centre(ny / 2)) < size / 2;
  const disturbed = (x: number, y: number): boolean => Math.hypot(x - centre((before + 2) * size), y - centre(ny / 2)) < size;
  return {
    lattice: D2Q9,
    extents: [nx, ny],
    active: (x, y) => !inBody(x, y),
    kind: (x, y) => (x === 0 || y === 0 || y === ny - 1 ? STREAM : x === nx - 1 ? OUTLET : FLUID),
    velocity: (x, y) => [speed, disturbed(x, y) ? speed / 5 : 0, 0],
    viscosity: (speed * size) / reynolds,
  };
}

/** A sphere in a stream that comes from x = 0; the domain is round, its outermost cells are undisturbed stream. */
export function sphere({ reynolds, size, speed = STREAM_SPEED }: ObstacleOptions): Flow {
  requireRoom(size);
  const { before, behind, across } = SPHERE_ROOM;
  const [nx, n] = [(before + behind) * size, across * size + 4];
  const radius = (y: number, z: number): number => Math.hypot(y - centre(n / 2), z - centre(n / 2));
  const inBody = (x: number, y: number, z: number): boolean => Math.hypot(x - centre(before * size), radius(y, z)) < size / 2;
  const isInside = (y: number, z: number): boolean => radius(y, z) < (across * size) / 2;
  // Two cells around hold all that a cell inside reads.
  return {
    lattice: D3Q19,
    extents: [nx, n, n],
    active: (x, y, z) => radius(y, z) < (across * size) / 2 + 2 && !inBody(x, y, z),
    kind: (x, y, z) => (x === 0 || !isInside(y, z) ? STREAM : x === nx - 1 ? OUTLET : FLUID),
    velocity: () => [speed, 0, 0],
    viscosity: (speed * size) / reynolds,
  };
}

/** Where a cell's centre would be for a point `edge` cells from the side of the box. */
const centre = (edge: number): number => edge - 0.5;

function requireRoom(size: number): void {
  if (size < 4) throw new LaunchError(`a body of ${size} cells in diameter: it needs at least 4`);
}

export interface Coefficients {
  readonly drag: number;
  readonly lift: number;
}

/** Drag and lift coefficients of a force: by the area across the stream, or the diameter in 2D. */
export function coefficients(
  [x, y]: readonly [number, number],
  { size, speed = STREAM_SPEED }: ObstacleOptions,
  dimension: 2 | 3,
): Coefficients {
  const area = dimension === 2 ? size : (Math.PI / 4) * size ** 2;
  const unit = 0.5 * speed ** 2 * area;
  return { drag: x / unit, lift: y / unit };
}

/** A vortex street. */
export interface Street extends Coefficients {
  /** Frequency times diameter by speed; undefined where nothing swings, or the wake is steady at this Reynolds number. */
  readonly strouhal: number | undefined;
}

/** Mean drag, greatest lift and frequency in the last two fifths of samples, each `interval` steps after the one before. */
export function streetOf(
  samples: readonly Coefficients[],
  interval: number,
  { reynolds, size, speed = STREAM_SPEED }: ObstacleOptions,
): Street {
  const late = samples.slice(Math.floor(samples.length * 0.6));
  // What still swings below that is left of the start, and fades.
  const perSample = reynolds < STEADY_BELOW ? undefined : frequency(late.map(({ lift }) => lift));
  return {
    drag: late.reduce((sum, { drag }) => sum + drag, 0) / late.length,
    lift: Math.max(...late.map(({ lift }) => Math.abs(lift))),
    strouhal: perSample && (perSample / interval) * (size / speed),
  };
}

/** Steps of a run, and between two samples of the force: enough for the vortices of a cylinder, for a sphere's steady drag. */
export const cylinderSchedule = ({ size, speed = STREAM_SPEED }: ObstacleOptions) => ({
  interval: Math.max(1, Math.round(size / speed / 10)),
  steps: Math.round((150 * size) / speed),
});
export const sphereSchedule = ({ size, speed = STREAM_SPEED }: ObstacleOptions) => ({
  interval: Math.max(1, Math.round(size / speed / 4)),
  steps: Math.round((20 * size) / speed),
});

/** The drag coefficient of a sphere, up to Re 800: Schiller and Naumann, Z. Ver. Dtsch. Ing. 77 (1933). */
export const schillerNaumann = (reynolds: number): number => (24 / reynolds) * (1 + 0.15 * reynolds ** 0.687);

/** The Strouhal number of a cylinder's parallel vortices: Williamson, Phys. Fluids 31 (1988); undefined outside of its range, Re 49 to 178. */
export const williamson = (reynolds: number): number | undefined =>
  reynolds < 49 || reynolds > 178 ? undefined : -3.3265 / reynolds + 0.1816 + 1.6e-4 * reynolds;

/** Below this Reynolds number the wake of a cylinder is steady: its vortices need about 47 (Williamson, Annu. Rev. Fluid Mech. 28, 1996). */
export const STEADY_BELOW = 47;

/**
 * Cycles per sample of a signal that swings about its mean, from the times at which it passes the mean upwards.
 * Undefined with less than two of these.
 */
export function frequency(signal: readonly number[]): number | undefined {
  const mean = signal.reduce((a, b) => a + b, 0) / signal.length;
  const crossings = signal.flatMap((v, n) => {
    const before = n > 0 ? signal[n - 1] - mean : 0;
    const now = v - mean;
    return before < 0 && now >= 0 ? [n - now / (now - before)] : [];
  });
  return crossings.length < 2 ? undefined : (crossings.length - 1) / (crossings.at(-1)! - crossings[0]);
}
