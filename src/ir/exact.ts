import type { FloatType } from "./scalars.js";

/*
 * Exact functions of numbers that JavaScript lacks: the same bits on every backend.
 */

/**
 * x to a whole power by squaring, from the lowest bit of n: the order of products of libgcc's `__powidf2`. A negative power is the reciprocal of
 * the positive one. n is an i32; `round` brings each result into the type.
 */
export function exactPowi(x: number, n: number, round: (x: number) => number = (v) => v): number {
  let power = x;
  let product = n & 1 ? x : 1;
  for (let rest = (n < 0 ? -n : n) >>> 1; rest > 0; rest >>>= 1) {
    power = round(power * power);
    if (rest & 1) product = round(product * power);
  }
  return n < 0 ? round(1 / product) : product;
}

/**
 * Two addends before `floor`, one after the other, that make it round halves up: the number below 1/4, and 1/4. The first sum is rounded to the even
 * neighbour, which takes 0.5 to 0.75 and -0.5 to -0.25, but nothing below 0.5 to 0.75; beyond 2^51 whole numbers come back from both sums.
 * One half at once would be rounded up just below 0.5 and at odd numbers beyond 2^52. Signs of zeros are lost.
 */
export const HALF: Readonly<Record<FloatType, readonly [number, number]>> = { f64: [0.25 - 2 ** -55, 0.25], f32: [0.25 - 2 ** -26, 0.25] };

/** |a| with the sign of b: -0 is negative, and NaN counts as positive. */
export const copysign = (a: number, b: number): number => (b < 0 || Object.is(b, -0) ? -Math.abs(a) : Math.abs(a));
