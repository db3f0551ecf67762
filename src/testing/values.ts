import type { Device } from "../device/device.js";
import { f32, f64 } from "../kernel/declare/params.js";
import type { RealToken } from "./real.js";

/** Values 0 .. n-1 through a function. */
export function make(n: number, value: (n: number) => number): Float64Array {
  return Float64Array.from({ length: n }, (_, k) => value(k));
}

/** A reproducible value in [0, 1) for each n: the fractional parts of multiples of an irrational number, mixed. */
export function noiseValue(n: number): number {
  const x = Math.sin(n * 12.9898 + 78.233) * 43758.5453;
  return x - Math.floor(x);
}

/** All pairs of two lists, as two lists. */
export function pairs(a: readonly number[], b: readonly number[]): [Float64Array, Float64Array] {
  return [make(a.length * b.length, (n) => a[Math.floor(n / b.length)]), make(a.length * b.length, (n) => b[n % b.length])];
}

/** Values that the device computes with as they are, including results: none near the subnormals that it flushes. */
export function edgesOn({ capabilities }: Device, real: RealToken, edges = real === f64 ? F64_EDGES : F32_EDGES): readonly number[] {
  const { f64Bits, subnormals } = capabilities;
  const normal = edges.filter((x) =>
    subnormals === false && (real === f32 || f64Bits !== undefined) ? x === 0 || !(Math.abs(x) < 2 ** -100) : true,
  );
  if (real === f32 || f64Bits === undefined) return normal;
  // The exact remainder of a large one would need more bits.
  const held = (x: number): boolean => {
    const low = x - Math.fround(x);
    return Math.abs(x) < 2 ** 44 && Math.fround(low) === low && (low === 0 || Math.abs(low) >= Math.abs(x) * 2 ** -f64Bits);
  };
  return normal.filter((x) => !Number.isFinite(x) || held(x));
}

export const F64_EDGES: readonly number[] = [
  0,
  -0,
  1,
  -1,
  0.5,
  -0.5,
  1.5,
  -1.5,
  2.5,
  -2.5,
  3,
  0.1,
  1 / 3,
  -0.2,
  0.49999999999999994,
  -0.49999999999999994,
  -0.5000000000000001,
  NaN,
  Infinity,
  -Infinity,
  5e-324,
  -5e-324,
  2.2250738585072014e-308,
  1.7976931348623157e308,
  -1.7976931348623157e308,
  1e300,
  1e-300,
  2251799813685248.5,
  -2251799813685248.5,
  4503599627370495.5,
  -4503599627370495.5,
  4503599627370497,
  -4503599627370497,
  9007199254740992,
  2147483646.5,
  2147483647,
  2147483647.5,
  2147483648,
  -2147483648,
  -2147483648.5,
  -2147483649,
  4294967295,
  4294967295.5,
  4294967296,
  -0.9999999999999999,
];
export const F32_EDGES: readonly number[] = [
  ...F64_EDGES.map(Math.fround),
  1.401298464324817e-45,
  -1.401298464324817e-45,
  1.1754943508222875e-38,
  3.4028234663852886e38,
  0.4999999701976776,
  -0.4999999701976776,
  4194303.5,
  -4194303.5,
  8388607.5,
  -8388607.5,
  8388609,
  -8388609,
  16777216,
  2147483520,
  4294967040,
];
export const I32_EDGES: readonly number[] = [
  0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 33, 255, 256, 12345, -98765, 65535, 65536, 46341, 1073741824, 2147483647, -2147483647, -2147483648,
];
export const U32_EDGES: readonly number[] = [
  0, 1, 2, 3, 7, 31, 32, 33, 255, 256, 12345, 65535, 65536, 65537, 2147483647, 2147483648, 3000000000, 3428989595, 4294967294, 4294967295,
];
