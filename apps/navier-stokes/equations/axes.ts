/*
 * The points of the axes, ghosts included. Coordinate n counts cells from 0; element n + ghosts of `points` is its place.
 */

export interface Axis {
  /** Places of cells, with `ghosts` more on each side. */
  readonly points: Float64Array;
  readonly ghosts: number;
  readonly periodic: boolean;
  /** Faces of a stretched axis: face n is the start of cell n, the last one the end of the last cell; cells + 1. */
  readonly faces?: Float64Array;
}

/** Points of an axis without its ghosts. */
export const cellsOf = ({ points, ghosts }: Axis): number => points.length - 2 * ghosts;

/** The place of coordinate n, which may be a ghost's. */
export const placeOf = ({ points, ghosts }: Axis, n: number): number => points[n + ghosts];

/** Coordinates of cells by their places. */
export const coordinatesOf = (axis: Axis): ReadonlyMap<number, number> =>
  new Map(Array.from({ length: cellsOf(axis) }, (_, n) => [placeOf(axis, n), n]));

/** The axis without its ghosts' points. */
export const innerPoints = ({ points, ghosts }: Axis): Float64Array => points.subarray(ghosts, points.length - ghosts);

/** Points at equal distances: length/cells where the axis is periodic, else length/(cells - 1), so that the last one stands at the end. */
export function uniform(cells: number, length: number, ghosts: number, { periodic = false, from = 0 } = {}): Axis {
  const step = periodic || cells === 1 ? length / cells : length / (cells - 1);
  return { points: Float64Array.from({ length: cells + 2 * ghosts }, (_, n) => from + (n - ghosts) * step), ghosts, periodic };
}

/** How cells are stretched away from a wall. */
interface Stretching {
  /** Distance of the first faces in units of the wall. */
  readonly dyPlus: number;
  /** Friction Reynolds number. */
  readonly reTau: number;
  /** Number of the cell from which on sizes follow the law of isotropic turbulence. */
  readonly jb: number;
  /** How often faces are smoothed. */
  readonly smoothing: number;
}

/** Distance from the wall of the face above r cells, in units of the wall (Pirozzoli and Orlandi, J. Comput. Phys. 439, 2021). */
function wallLaw(r: number, alpha: number, { dyPlus, jb }: Stretching): number {
  const s = (r / jb) ** 2;
  return (r * dyPlus + (0.75 * alpha * r) ** (4 / 3) * s) / (1 + s);
}

/** Points between -1 and 1, with walls at both ends: mirrored, midway between faces. Takes an even number of cells. */
export function channelAxis(cells: number, ghosts: number, stretching: Stretching): Axis {
  const half = cells / 2;
  const alpha = ((4 / 3) * stretching.reTau ** 0.75) / half;
  let lower = Float64Array.from({ length: half + 1 }, (_, r) => wallLaw(r, alpha, stretching) / wallLaw(half, alpha, stretching));
  for (let n = 0; n < stretching.smoothing; n++)
    lower = lower.map((y, j) => {
      if (j === 0 || j === half) return y;
      const s = 0.5 * (1 + Math.tanh((y - 0.75) / 0.15));
      return (s * (lower[j - 1] + lower[j + 1]) + (6 - 2 * s) * y) / 6;
    });
  const faces = Float64Array.from({ length: cells + 1 }, (_, j) => (j <= half ? lower[j] - 1 : 1 - lower[cells - j]));
  const inner = midway(faces, cells);
  const points = new Float64Array(cells + 2 * ghosts);
  points.set(inner, ghosts);
  for (let l = 1; l <= ghosts; l++) {
    points[ghosts - l] = -2 - inner[l - 1];
    points[ghosts + cells - 1 + l] = 2 - inner[cells - l];
  }
  return { points, ghosts, periodic: false, faces };
}

/** A wall at 0, `cells` of the law up to `length`. */
interface WallLayer {
  readonly cells: number;
  readonly length: number;
}

/** A wall at 0, a layer that follows the law, and beyond it faces in geometric progression up to `length`. */
export function layerAxis(cells: number, length: number, ghosts: number, wall: WallLayer, stretching: Stretching): Axis {
  const beyond = cells - wall.cells;
  const faces = lawFaces(cells, ghosts, wall, stretching);
  const step = faces[wall.cells + 1] - faces[wall.cells];
  const ratio = geometricRatio((length - wall.length) / step, beyond);
  for (let j = wall.cells + 1; j < faces.length; j++) faces[j] = faces[j - 1] + step * ratio ** (j - wall.cells - 1);
  return aboveWall(faces, cells, ghosts, stretching.smoothing);
}

/** A wall at 0, a layer that follows the law, and beyond it faces at equal distances. */
export function shockAxis(cells: number, ghosts: number, wall: WallLayer, stretching: Stretching): Axis {
  const faces = lawFaces(cells, ghosts, wall, stretching);
  const step = faces[wall.cells + 1] - faces[wall.cells];
  for (let j = wall.cells + 1; j < faces.length; j++) faces[j] = faces[wall.cells] + step * (j - wall.cells);
  return aboveWall(faces, cells, ghosts, stretching.smoothing);
}

/** Faces of the law, scaled to the layer's length, as far as they are of the layer and one more. */
function lawFaces(cells: number, ghosts: number, wall: WallLayer, stretching: Stretching): Float64Array {
  const alpha = ((4 / 3) * (stretching.reTau * wall.length) ** 0.75) / (wall.cells + 1);
  const scale = wall.length / wallLaw(wall.cells, alpha, stretching);
  return Float64Array.from({ length: cells + ghosts + 1 }, (_, r) => scale * wallLaw(r, alpha, stretching));
}

/** The ratio by which `count` cells reach over `length`, the first of them with length 1. */
function geometricRatio(length: number, count: number): number {
  let ratio = 1.01;
  for (let n = 0; n < 100_000; n++) {
    const next = (1 + (ratio - 1) * length) ** (1 / count);
    const change = Math.abs(next - ratio);
    ratio = next;
    if (change < 1e-9) break;
  }
  return ratio;
}

function aboveWall(start: Float64Array, cells: number, ghosts: number, smoothing: number): Axis {
  let faces = start;
  const last = faces.length - 1;
  for (let n = 0; n < smoothing; n++) faces = faces.map((y, j) => (j === 0 || j === last ? y : (faces[j - 1] + 4 * y + faces[j + 1]) / 6));
  const above = midway(faces, cells + ghosts);
  const points = new Float64Array(cells + 2 * ghosts);
  points.set(above, ghosts);
  for (let l = 1; l <= ghosts; l++) points[ghosts - l] = -above[l - 1];
  return { points, ghosts, periodic: false, faces: faces.slice(0, cells + 1) };
}

const midway = (faces: Float64Array, count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, j) => 0.5 * (faces[j] + faces[j + 1]));
