import { NODE, SPIN, STEP, type ScanningLaw } from "../../../../apps/gsr/scanning/law.js";

export type Vector = [number, number, number];

export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: ArrayLike<number>, b: ArrayLike<number>): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const plus = (a: ArrayLike<number>, b: ArrayLike<number>, factor = 1): Vector => [
  a[0] + factor * b[0],
  a[1] + factor * b[1],
  a[2] + factor * b[2],
];
export const unit = (a: ArrayLike<number>): Vector => {
  const length = Math.sqrt(dot(a, a));
  return [a[0] / length, a[1] / length, a[2] / length];
};

/** The axes X, Y, Z at a time, from the law's nodes by the functions of `Math`. */
export function plainAxes({ nodes }: ScanningLaw, time: number): [Vector, Vector, Vector] {
  const k = Math.floor(time / STEP);
  const part = time / STEP - k;
  const between = (first: number): Vector => {
    const at = (node: number) => nodes.subarray(NODE * node + first, NODE * node + first + 3);
    return plus(plus([0, 0, 0], at(k), 1 - part), at(k + 1), part);
  };
  const z = unit(between(0));
  const carried = between(3);
  const x = unit(plus(carried, z, -dot(carried, z)));
  const y = cross(z, x);
  const [c, s] = [Math.cos(SPIN * time), Math.sin(SPIN * time)];
  return [plus(plus([0, 0, 0], x, c), y, s), plus(plus([0, 0, 0], y, c), x, -s), z];
}

/** Angles phi along and zeta across the scan at which axes see a direction. */
export function fieldAngles([x, y, z]: readonly [Vector, Vector, Vector], v: Vector): { phi: number; zeta: number } {
  return { phi: Math.atan2(dot(y, v), dot(x, v)), zeta: Math.asin(dot(z, v)) };
}
