import { cellsOf, innerPoints, placeOf, type Axis } from "../equations/axes.js";
import { energyAt, type Gas } from "../equations/gas.js";
import { layerProfile, valuesAt, type LayerGas, type LayerProfile } from "./layer-profile.js";

/*
 * A turbulent layer along x that is 1 thick at x = 0: how it grows, its means, and the flow at the start.
 */

/** A column's profile but for its values at all heights, which are large. */
type ColumnProfile = Omit<LayerProfile, "u" | "temperature">;

/** Means of a layer on an axis along x and one across; columns count as the axis along x does, from -ghosts on. */
export interface LayerMeans {
  readonly x: Axis;
  /** Cells across. */
  readonly cells: number;
  /** Reynolds number of free stream, unit length and viscosity of reference. */
  readonly reynolds: number;
  profile(column: number): ColumnProfile;
  /** Density, and velocity along x and y. */
  at(column: number, j: number): readonly [rho: number, u: number, v: number];
}

/** The layer's profiles at the points of an axis, its ghosts and one point more: of the momentum's balance d theta/dx = cf/2. */
function growth(layer: LayerGas, reTau: number, x: Axis): { readonly first: ColumnProfile; readonly columns: readonly ColumnProfile[] } {
  const first = layerProfile(layer, 1, { reTau });
  const count = cellsOf(x);
  const start = march(layer, first, placeOf(x, 0));
  const columns = [start];
  for (let i = 1; i < count + x.ghosts; i++) columns.push(march(layer, columns[i - 1], placeOf(x, i) - placeOf(x, i - 1)));
  const last = columns.length - 1;
  columns.push(march(layer, columns[last], placeOf(x, last) - placeOf(x, last - 1)));
  for (let i = -1; i >= -x.ghosts; i--) columns.unshift(march(layer, columns[0], placeOf(x, i) - placeOf(x, i + 1)));
  return { first, columns };
}

/** The profile at a distance from another one. */
function march(layer: LayerGas, before: ColumnProfile, distance: number): ColumnProfile {
  if (distance === 0) return before;
  const theta = before.theta + 0.5 * distance * before.cf;
  const { reTau, reTheta, cf } = layerProfile(layer, 1, { reTheta: (before.reTheta * theta) / before.theta });
  const delta = before.delta * (reTau / before.reTau) * Math.sqrt(before.cf / cf);
  return { delta, reTau, reTheta, theta, cf };
}

/** The length of the wall: of kinematic viscosity and friction velocity there. */
export const viscousLength = ({ delta, reTau }: ColumnProfile): number => delta / reTau;

/** The layer that was asked for last: means take seconds, and the runs of a series often share them. */
let last: { readonly key: string; readonly means: LayerMeans } | undefined;

/** Means of a layer of friction Reynolds number `reTau` at x = 0. Velocities in units of `u0`. */
export function layerMeans(layer: LayerGas, reTau: number, x: Axis, y: Axis, u0: number): LayerMeans {
  const key = JSON.stringify([layer, reTau, ...[x, y].map(({ points, ghosts }) => [ghosts, ...points]), u0]);
  if (last?.key !== key) last = { key, means: meansOf(layer, reTau, x, y, u0) };
  return last.means;
}

function meansOf(layer: LayerGas, reTau: number, x: Axis, y: Axis, u0: number): LayerMeans {
  const { first, columns } = growth(layer, reTau, x);
  const heights = innerPoints(y);
  const profiles = columns.map(({ delta, reTau: own }) => layerProfile(layer, delta, { reTau: own }));
  const values = profiles.map((profile) => Array.from(heights, (height) => valuesAt(layer, profile, height)));
  const u = values.map((column) => column.map((value) => value.u));
  const rho = values.map((column) => column.map((value) => value.rho));
  const rhoV = columns.slice(1).map((_, i) => {
    const step = placeOf(x, 1) - placeOf(x, 0);
    const slope = Array.from(heights, (_, j) => (rho[i + 1][j] * u[i + 1][j] - rho[i][j] * u[i][j]) / step);
    const sums = new Float64Array(heights.length);
    for (let j = 1; j < sums.length; j++) sums[j] = sums[j - 1] - 0.5 * (heights[j] - heights[j - 1]) * (slope[j] + slope[j - 1]);
    return sums;
  });
  return {
    x,
    cells: heights.length,
    reynolds: (first.reTheta * first.delta) / first.theta,
    profile: (column) => columns[column + x.ghosts],
    at(column, j) {
      const i = column + x.ghosts;
      return [rho[i][j], u0 * u[i][j], (u0 * rhoV[i][j]) / rho[i][j]];
    },
  };
}

/** Waves that are added to the layer at the start, so that it becomes turbulent; lengths in units of its thickness, velocities of the free stream's. */
const MODES = [
  { height: 0.3, along: 0.3, up: -0.06, frequency: 1.2, span: 0.333 },
  { height: 0.45, along: 0.2, up: -0.05, frequency: 0.6, span: 0.25 },
  { height: 0.6, along: 0.08, up: -0.04, frequency: 0.4, span: 0.2 },
  { height: 0.5, along: 0.04, up: -0.03, frequency: 0.2, span: 0.166 },
];
const WAVE_SPEED = 0.9;

/** The velocity of the waves, in units of the free stream's, at places in units of `delta`-free lengths. */
function modesAt(x: number, y: number, z: number, delta: number, lz: number): readonly [u: number, v: number, w: number] {
  let [u, v, w] = [0, 0, 0];
  for (const { height, along, up, frequency, span } of MODES) {
    const length = height * delta;
    const s = y / length;
    const k = frequency / delta / WAVE_SPEED;
    const lambda = span * lz;
    const [wave, turned] = [Math.sin(k * x), Math.cos(k * x)];
    const cross = (2 * Math.PI * z) / lambda;
    const [rise, bulge] = [s * Math.exp(-s), Math.exp(-(s ** 2))];
    u += along * rise * wave * Math.cos(cross);
    v += up * s ** 2 * bulge * wave * Math.cos(cross);
    w -= ((along * rise * k * turned + ((up * 2 * s) / length) * bulge * (1 - s ** 2) * wave) * Math.sin(cross) * lambda) / (2 * Math.PI);
  }
  return [u, v, w];
}

/** Conserved values of the flow at the start, in cell (i, j) at z; with the waves where `lz` is the box's. */
export function layerStart(
  means: LayerMeans,
  gas: Gas,
  y: Axis,
  u0: number,
  lz: number,
): (i: number, j: number, z: number) => readonly number[] {
  const { delta } = means.profile(0);
  return (i, j, z) => {
    const [rho, u, v] = means.at(i, j);
    const scale = u0 * Math.sqrt(means.at(i, 0)[0] / rho);
    const [du, dv, dw] = modesAt(placeOf(means.x, i), placeOf(y, j), z, delta, lz).map((value) => value * scale);
    return conserved(gas, rho, u + du, v + dv, dw);
  };
}

/** Conserved values at pressure 1. */
export function conserved(gas: Gas, rho: number, u: number, v: number, w: number): readonly number[] {
  return [rho, rho * u, rho * v, rho * w, rho * (energyAt(gas, 1 / rho) + 0.5 * (u ** 2 + v ** 2 + w ** 2))];
}
