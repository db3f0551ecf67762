import { LaunchError } from "isoform";
import { FLUID, OUTLET, STREAM } from "./kinds.js";
import { D2Q9, D3Q19 } from "./lattice.js";
import type { Flow } from "./simulation.js";

/** A stream's room, in diameters of the body: from the inlet and to the outlet from the body's centre, and across. */
export interface Box {
  readonly before: number;
  readonly behind: number;
  readonly across: number;
}

/** Options of `cylinder` and `sphere`. */
export interface ObstacleOptions {
  /** Reynolds number of the stream's speed and the body's diameter. */
  reynolds: number;
  /** Cells of the body's diameter, at least 4. */
  size: number;
  /** Speed of the stream, in cells a step. Default: `STREAM_SPEED`. */
  speed?: number;
  /** Default: `CYLINDER_BOX` or `SPHERE_BOX`. */
  box?: Box;
}

/** The stream's speed where none is given, in cells a step. */
export const STREAM_SPEED = 0.1;

/** The room around a cylinder where none is given, in diameters. */
export const CYLINDER_BOX: Box = { before: 10, behind: 20, across: 24 };
/** The room around a sphere where none is given, in diameters. */
export const SPHERE_BOX: Box = { before: 4, behind: 7, across: 8 };

/**
 * A cylinder across a stream that comes from x = 0 and goes on undisturbed at the sides. The fluid downstream of the body starts with some motion
 * across, which soon becomes a vortex street.
 * @throws LaunchError for a body of too few cells, or a box that it does not fit
 */
export function cylinder({ reynolds, size, speed = STREAM_SPEED, box = CYLINDER_BOX }: ObstacleOptions): Flow {
  requireRoom(size, box);
  const [before, nx, ny] = [box.before, box.before + box.behind, box.across].map((length) => Math.round(length * size));
  const body = [centre(before), centre(ny / 2), 0];
  const distance = (x: number, y: number, from = body[0]): number => Math.sqrt((x - from) ** 2 + (y - body[1]) ** 2);
  const disturbed = (x: number, y: number): boolean => distance(x, y, body[0] + 2 * size) < size;
  return {
    lattice: D2Q9,
    extents: [nx, ny],
    active: (x, y) => distance(x, y) >= size / 2,
    wallAt: (cell, e) => wayToSphere(cell, e, body, size / 2),
    kind: (x, y) => (x === 0 || y === 0 || y === ny - 1 ? STREAM : x === nx - 1 ? OUTLET : FLUID),
    velocity: (x, y) => [speed, disturbed(x, y) ? speed / 5 : 0, 0],
    viscosity: (speed * size) / reynolds,
  };
}

/**
 * A sphere in a stream that comes from x = 0; the domain is round, its outermost cells are undisturbed stream.
 * @throws LaunchError for a body of too few cells, or a box that it does not fit
 */
export function sphere({ reynolds, size, speed = STREAM_SPEED, box = SPHERE_BOX }: ObstacleOptions): Flow {
  requireRoom(size, box);
  const [before, nx, across] = [box.before, box.before + box.behind, box.across].map((length) => Math.round(length * size));
  const n = across + 4;
  const body = [centre(before), centre(n / 2), centre(n / 2)];
  const radius = (y: number, z: number): number => Math.sqrt((y - body[1]) ** 2 + (z - body[2]) ** 2);
  const inBody = (x: number, y: number, z: number): boolean =>
    Math.sqrt((x - body[0]) ** 2 + (y - body[1]) ** 2 + (z - body[2]) ** 2) < size / 2;
  const isInside = (y: number, z: number): boolean => radius(y, z) < across / 2;
  // Two cells around hold all that a cell inside reads.
  return {
    lattice: D3Q19,
    extents: [nx, n, n],
    active: (x, y, z) => radius(y, z) < across / 2 + 2 && !inBody(x, y, z),
    wallAt: (cell, e) => wayToSphere(cell, e, body, size / 2),
    kind: (x, y, z) => (x === 0 || !isInside(y, z) ? STREAM : x === nx - 1 ? OUTLET : FLUID),
    velocity: () => [speed, 0, 0],
    viscosity: (speed * size) / reynolds,
  };
}

/**
 * For a flow's `wallAt`: the share s of the way from a cell outside of a sphere (in 2D, a circle), in direction `e`, at which the sphere begins: the
 * smaller root of |cell + s e - centre| = radius.
 */
export function wayToSphere(cell: readonly number[], e: readonly number[], centre: readonly number[], radius: number): number {
  const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, k) => sum + value * b[k], 0);
  const from = cell.map((at, k) => at - centre[k]);
  const [a, b, c] = [dot(e, e), dot(from, e), dot(from, from) - radius ** 2];
  // The form without a difference of numbers that are nearly the same: b is below 0.
  return c / (Math.sqrt(Math.max(b * b - a * c, 0)) - b);
}

/** Coordinate, by cells' centres, of a point `edge` cells from the side of the box. */
const centre = (edge: number): number => edge - 0.5;

function requireRoom(size: number, { before, behind, across }: Box): void {
  if (size < 4) throw new LaunchError(`a body of ${size} cells in diameter is too small: it needs at least 4`);
  if (!(before >= 1 && behind >= 1 && across >= 2))
    throw new LaunchError(
      `a box of ${before}, ${behind}, ${across} diameters: the body needs at least 1 upstream, 1 downstream and 2 across, as in --box 10,20,24`,
    );
}

/** Drag and lift coefficients: force by (speed^2 / 2 times area). */
export interface Coefficients {
  readonly drag: number;
  readonly lift: number;
}

/** Drag and lift coefficients of a force that `Simulation.force` gave: by the area across the stream, in 2D by the diameter. */
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
  /** Frequency times diameter by speed; undefined if nothing swings, or the wake is steady at this Reynolds number. */
  readonly strouhal: number | undefined;
}

/** Mean drag, greatest lift and Strouhal number in the last two fifths of samples that are `interval` steps apart. */
export function streetOf(
  samples: readonly Coefficients[],
  interval: number,
  { reynolds, size, speed = STREAM_SPEED }: ObstacleOptions,
): Street {
  const late = samples.slice(Math.floor(samples.length * 0.6));
  // Swings of a steady wake are left from the start, and fade.
  const perSample = reynolds < STEADY_BELOW ? undefined : frequency(late.map(({ lift }) => lift));
  return {
    drag: late.reduce((sum, { drag }) => sum + drag, 0) / late.length,
    lift: Math.max(...late.map(({ lift }) => Math.abs(lift))),
    strouhal: perSample && (perSample / interval) * (size / speed),
  };
}

/** Steps of a run, and steps between two samples of the force, that show a cylinder's vortex street. */
export const cylinderSchedule = ({ size, speed = STREAM_SPEED }: ObstacleOptions) => ({
  interval: Math.max(1, Math.round(size / speed / 10)),
  steps: Math.round((150 * size) / speed),
});
/** Steps of a run, and steps between two samples of the force, that show a sphere's steady drag. */
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
