import type { Mesh } from "../../../apps/pic/mesh/mesh.js";

/*
 * The flow of one particle in plain TypeScript, by definitions: splines by the recursion of Cox and de Boor, path integrals as differences of
 * global primitives, sums over all splines of the axis that may matter.
 */

/** N^d at t cells from the left end of its support. */
export function spline(d: number, t: number): number {
  if (d === 0) return t >= 0 && t < 1 ? 1 : 0;
  return (t * spline(d - 1, t) + (d + 1 - t) * spline(d - 1, t - 1)) / d;
}

/** Its integral from the left end to t. */
export function primitive(d: number, t: number): number {
  let sum = 0;
  for (let m = 0; m <= Math.floor(t); m++) sum += spline(d + 1, t - m);
  return sum;
}

export interface Particle {
  x: number[];
  v: number[];
  w: number;
}

type Entry = readonly [index: number, value: number];

/** Splines of a degree at x, those that are not 0: index modulo the cells, value. An absent axis has one, the constant 1. */
function splinesOn({ cells, length, degree }: Mesh["axes"][number], lower: boolean, x: number): Entry[] {
  if (degree === 0) return [[0, 1]];
  const d = lower ? degree - 1 : degree;
  const place = (x * cells) / length;
  return modulo(cells, Math.floor(place) - d, Math.floor(place), (g) => spline(d, place - g));
}

/** Integrals of the splines of degree p - 1 over a path, by global primitives. */
function integralsOn({ cells, length, degree }: Mesh["axes"][number], from: number, to: number): Entry[] {
  if (degree === 0) return [[0, to - from]];
  const h = length / cells;
  const [a, b] = [from / h, to / h];
  return modulo(cells, Math.floor(Math.min(a, b)) - degree, Math.floor(Math.max(a, b)), (g) => {
    const d = degree - 1;
    return h * (primitive(d, b - g) - primitive(d, a - g));
  });
}

const modulo = (cells: number, first: number, last: number, value: (g: number) => number): Entry[] =>
  Array.from({ length: last - first + 1 }, (_, n) => [(((first + n) % cells) + cells) % cells, value(first + n)] as const);

/** The storage index of a coefficient. */
export const indexOf = ({ axes }: Mesh, g: readonly number[]): number => g[0] + axes[0].cells * (g[1] + axes[1].cells * g[2]);

/** Calls `visit` with each coefficient and its tensor-product weight. */
function tensor(mesh: Mesh, factors: readonly Entry[][], visit: (id: number, value: number) => void): void {
  for (const [k, z] of factors[2])
    for (const [j, y] of factors[1]) for (const [i, x] of factors[0]) visit(indexOf(mesh, [i, j, k]), x * y * z);
}

/** Charge density of particles against the splines of V0. */
export function density(mesh: Mesh, particles: readonly Particle[], charge = 1): Float64Array {
  const rho = new Float64Array(mesh.axes.reduce((n, { cells }) => n * cells, 1));
  for (const { x, w } of particles)
    tensor(
      mesh,
      mesh.axes.map((axis, k) => splinesOn(axis, false, x[k])),
      (id, value) => (rho[id] += charge * w * value),
    );
  return rho;
}

/** H_p along axis a: changes the particle, adds to the current. `b`: three blocks of coefficients. */
export function push(
  mesh: Mesh,
  a: number,
  dt: number,
  p: Particle,
  b: readonly ArrayLike<number>[],
  j: Float64Array,
  charge = 1,
  ratio = charge,
): void {
  const [bAxis, cAxis] = [(a + 1) % 3, (a + 2) % 3];
  const to = p.x[a] + dt * p.v[a];
  const factors = (lowerB: boolean, lowerC: boolean): Entry[][] => {
    const list: Entry[][] = [];
    list[a] = integralsOn(mesh.axes[a], p.x[a], to);
    list[bAxis] = splinesOn(mesh.axes[bAxis], lowerB, p.x[bAxis]);
    list[cAxis] = splinesOn(mesh.axes[cAxis], lowerC, p.x[cAxis]);
    return list;
  };
  tensor(mesh, factors(false, false), (id, value) => (j[id] += charge * p.w * value));
  let [turnB, turnC] = [0, 0];
  tensor(mesh, factors(true, false), (id, value) => (turnB += b[cAxis][id] * value));
  tensor(mesh, factors(false, true), (id, value) => (turnC += b[bAxis][id] * value));
  p.v[bAxis] -= ratio * turnB;
  p.v[cAxis] += ratio * turnC;
  const { length, degree } = mesh.axes[a];
  if (degree > 0) p.x[a] = to - length * Math.floor(to / length);
}

/** E at a place: each component from its block of coefficients. */
export const electricField = (mesh: Mesh, x: readonly number[], e: readonly ArrayLike<number>[]): number[] =>
  fieldAt(mesh, x, e, (axis, k) => axis === k);

/** B at a place. */
export const magneticField = (mesh: Mesh, x: readonly number[], b: readonly ArrayLike<number>[]): number[] =>
  fieldAt(mesh, x, b, (axis, k) => axis !== k);

const fieldAt = (
  mesh: Mesh,
  x: readonly number[],
  blocks: readonly ArrayLike<number>[],
  isLower: (axis: number, k: number) => boolean,
): number[] =>
  blocks.map((block, k) => {
    let value = 0;
    tensor(
      mesh,
      mesh.axes.map((axis, a) => splinesOn(axis, isLower(a, k), x[a])),
      (id, weight) => (value += block[id] * weight),
    );
    return value;
  });
