import type { JoinedMesh } from "./mesh.js";

/*
 * Places where lines along x pass through a mesh. A line that meets an edge or a corner passes beside it, always on the same side: as if it were moved by a
 * little along y, and by much less along z. So each line passes a closed mesh as often inwards as outwards.
 */

/** A passage of a line through a triangle. */
interface Crossing {
  readonly x: number;
  /** 1 if the triangle faces the beginning of the line, so that it leads inwards, else -1. */
  readonly way: 1 | -1;
}

/** The passage of the line at (y, z) through a triangle, given as the place of its first corner's number; undefined if it passes beside. */
export function crossingAt({ vertices, triangles }: JoinedMesh, triangle: number, y: number, z: number): Crossing | undefined {
  const [a, b, c] = [triangles[triangle], triangles[triangle + 1], triangles[triangle + 2]];
  const side = sideOf(vertices, a, b, y, z);
  if (sideOf(vertices, b, c, y, z) !== side || sideOf(vertices, c, a, y, z) !== side) return undefined;
  // Shares of the corners: the areas opposite to them.
  const [shareA, shareB, shareC] = [areaOf(vertices, b, c, y, z), areaOf(vertices, c, a, y, z), areaOf(vertices, a, b, y, z)];
  const [xa, xb, xc] = [vertices[3 * a], vertices[3 * b], vertices[3 * c]];
  const whole = shareA + shareB + shareC;
  const x = whole === 0 ? xa : (shareA * xa + shareB * xb + shareC * xc) / whole;
  return { x: Math.min(Math.max(x, Math.min(xa, xb, xc)), Math.max(xa, xb, xc)), way: side > 0 ? -1 : 1 };
}

/** Twice the signed area of the triangle of an edge and the line, seen along x. */
function areaOf(vertices: Float64Array, p: number, q: number, y: number, z: number): number {
  const [py, pz, qy, qz] = [vertices[3 * p + 1], vertices[3 * p + 2], vertices[3 * q + 1], vertices[3 * q + 2]];
  return (py - y) * (qz - z) - (pz - z) * (qy - y);
}

/** On which side of the edge from p to q the line is, for both triangles of the edge the same: 1 or -1, never 0. */
function sideOf(vertices: Float64Array, p: number, q: number, y: number, z: number): number {
  if (p > q) return -sideOf(vertices, q, p, y, z);
  const [py, pz, qy, qz] = [vertices[3 * p + 1], vertices[3 * p + 2], vertices[3 * q + 1], vertices[3 * q + 2]];
  const [left, right] = [(py - y) * (qz - z), (pz - z) * (qy - y)];
  const area = left - right;
  // Each difference and product is off by a half unit in the last place at most.
  if (Math.abs(area) > 8 * Number.EPSILON * (Math.abs(left) + Math.abs(right))) return Math.sign(area);
  const exact = exactArea([py, pz, qy, qz, y, z]);
  if (exact !== 0) return exact;
  // Moved along y by a little the area changes by pz - qz, along z by qy - py.
  return Math.sign(pz - qz) || Math.sign(qy - py) || 1;
}

/** The sign of the area without rounding. */
function exactArea(numbers: readonly number[]): number {
  const [py, pz, qy, qz, y, z] = wholeNumbers(numbers);
  const area = (py - y) * (qz - z) - (pz - z) * (qy - y);
  return area > 0n ? 1 : area < 0n ? -1 : 0;
}

/** Numbers times a power of two that makes all of them whole. */
function wholeNumbers(numbers: readonly number[]): bigint[] {
  const scaled = numbers.map((value) => {
    const exponent = value === 0 ? 0 : Math.max(Math.floor(Math.log2(Math.abs(value))), -1022) - 53;
    return { exponent, whole: BigInt(Math.round(scale(value, -exponent))) };
  });
  const least = Math.min(...scaled.map(({ exponent }) => exponent));
  return scaled.map(({ exponent, whole }) => whole << BigInt(exponent - least));
}

/** value * 2 ** power, in two steps, as one factor alone may be beyond the range. */
const scale = (value: number, power: number): number => value * 2 ** Math.trunc(power / 2) * 2 ** (power - Math.trunc(power / 2));
