import { f64, i64, kernel, max, min, range, reducer, scatter, sum, table, u64, view } from "../../../src/index.js";
import type { Case } from "./cases.js";

const wide = kernel(
  "wide",
  {
    by: i64,
    x: view(i64),
    u: view(u64),
    q: view(i64),
    h: view(u64),
    s: scatter(i64),
    sums: table(i64, [1n, -(2n ** 63n), 2n ** 40n]),
    total: sum(i64),
    least: min(i64),
    most: max(u64),
    product: reducer(u64, 1n, (a, b) => a * b),
  },
  ({ by, x, u, q, h, s, sums, total, least, most, product }, i) => {
    q[i] = BigInt.asIntN(64, x[i] * by + sums[i % 3]);
    let state = u[i];
    for (let k = 0; k < 3; k++) state ^= BigInt.asUintN(64, state << 13n);
    h[i] = state >> 7n;
    s.add(i % 5, x[i]);
    total.add(x[i]);
    least.min(q[i]);
    most.max(state);
    product.merge(u[i] | 1n);
  },
);
const divided = kernel("divided", { x: view(i64), y: view(i64), q: view(i64), r: view(u64), d: view(f64) }, ({ x, y, q, r, d }, i) => {
  q[i] = BigInt.asIntN(64, x[i] / y[i]) ^ (x[i] % y[i]);
  r[i] = BigInt.asUintN(64, BigInt.asUintN(64, x[i]) / BigInt.asUintN(64, y[i]));
  d[i] = Number(x[i]);
});
const bits = (n: number): bigint => BigInt.asIntN(64, BigInt(n + 1) ** 13n * 0x9e3779b97f4a7c15n) >> BigInt(n % 60);

/** Kernels with integers of 64 bits. */
export const WIDE_CASES: readonly Case[] = [
  {
    kernel: wide,
    policy: range(700),
    scalars: { by: -0x123456789abcdefn },
    views: {
      x: { shape: [700], values: bits },
      u: { shape: [700], values: (n) => BigInt.asUintN(64, bits(n)) },
      q: { shape: [700], values: () => 0n },
      h: { shape: [700], values: () => 0n },
      s: { shape: [5], values: (n) => BigInt(n) },
    },
  },
  {
    kernel: divided,
    policy: range(100),
    views: {
      x: { shape: [100], values: (n) => (n === 7 ? -(2n ** 63n) : bits(n)) },
      y: { shape: [100], values: (n) => (n === 7 ? -1n : n % 10 === 0 ? 0n : bits(3 * n)) },
      q: { shape: [100], values: () => 0n },
      r: { shape: [100], values: () => 0n },
      d: { shape: [100], values: () => 0 },
    },
  },
];
