/* Kernels with mistakes in them, which are made on purpose. */
import { describe } from "node:test";
import { bool, f32, f64, i32, kernel, sum, u32, view } from "isoform";
import { refuses } from "./refuses.js";

const x = view(f64),
  y = view(f64),
  s = view(f32),
  n = view(i32),
  u = view(u32);

describe("types that do not fit are refused", () => {
  refuses([
    [
      "division of integers",
      kernel("k", { n }, ({ n }, i) => {
        n[i] = n[i] / 2;
      }),
      "n[i] / 2",
      /integers are divided, which gives a fraction/,
      /\(a \/ b\) \| 0 for the whole part, or \+a \/ b/,
    ],
    [
      "division by an index",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = 1 / i;
      }),
      "1 / i",
      /integers are divided/,
      /\+a/,
    ],
    [
      "i32 with u32",
      kernel("k", { n, u }, ({ n, u }, i) => {
        n[i] = n[i] + u[i];
      }),
      "n[i] + u[i]",
      /i32 and u32 are mixed/,
      />>> 0 or \(...\) \| 0/,
    ],
    [
      "a comparison of i32 with u32",
      kernel("k", { n, u }, ({ n, u }, i) => {
        if (n[i] < u[i]) n[i] = 0;
      }),
      "n[i] < u[i]",
      /i32 and u32 are mixed/,
      /convert one/,
    ],
    [
      "f64 stored as f32",
      kernel("k", { s, x }, ({ s, x }, i) => {
        s[i] = x[i] + 1;
      }),
      "s[i] = ",
      /s holds f32, and f64 is stored into it/,
      /Math\.fround/,
    ],
    [
      "f64 stored as i32",
      kernel("k", { n, x }, ({ n, x }, i) => {
        n[i] = x[i];
      }),
      "n[i] = ",
      /n holds i32, and f64/,
      /\| 0/,
    ],
    [
      "i32 stored as u32",
      kernel("k", { u, n }, ({ u, n }, i) => {
        u[i] = n[i];
      }),
      "u[i] = ",
      /u holds u32, and i32/,
      />>> 0/,
    ],
    [
      "truth values stored as numbers",
      kernel("k", { y, b: bool }, ({ y, b }, i) => {
        y[i] = b as never;
      }),
      "y[i] = ",
      /y holds f64, and bool/,
      /condition \? 1 : 0/,
    ],
    [
      "literals out of range",
      kernel("k", { n }, ({ n }, i) => {
        n[i] = 3000000000;
      }),
      "n[i] = ",
      /n holds i32, and 3000000000/,
      /3000000000 \| 0/,
    ],
    [
      "negative literals with u32",
      kernel("k", { u }, ({ u }, i) => {
        if (u[i] > -1) u[i] = 0;
      }),
      "u[i] > -1",
      /-1 does not fit u32/,
      /-1 >>> 0/,
    ],
    [
      "fractions where integers are needed",
      kernel("k", { n }, ({ n }, i) => {
        n[i] = 2.5;
      }),
      "n[i] = ",
      /n holds i32, and f64/,
      /\| 0/,
    ],
    [
      "fractions as indices",
      kernel("k", { x, y }, ({ x, y }, i) => {
        y[i] = x[Math.floor(x[i])];
      }),
      "Math.floor(x[i])",
      /an index must be i32, but here is f64/,
      /\| 0/,
    ],
    [
      "a variable that changes from i32 to f64",
      kernel("k", { y }, ({ y }, i) => {
        let v = i;
        v *= y[i];
        y[i] = v;
      }),
      "v *= y[i]",
      /v is i32, but here is f64/,
      /\| 0/,
    ],
    [
      "a variable that changes from f32 to f64",
      kernel("k", { s, y }, ({ s, y }, i) => {
        let v = s[i];
        v += y[i];
        s[i] = v;
      }),
      "v += y[i]",
      /v is f32, but here is f64/,
      /Math\.fround/,
    ],
    [
      "arithmetic of truth values",
      kernel("k", { y, b: bool }, ({ y, b }, i) => {
        y[i] = (b as never) + 1;
      }),
      "b as never) + 1",
      /bool and i32 cannot be combined/,
      /condition \? 1 : 0/,
    ],
    [
      "negated u32",
      kernel("k", { u }, ({ u }, i) => {
        u[i] = -u[i];
      }),
      "-u[i]",
      /a u32 is negated/,
      /0 - x/,
    ],
    [
      "bit operations on floats",
      kernel("k", { n, x }, ({ n, x }, i) => {
        n[i] = x[i] & 1;
      }),
      "x[i] & 1",
      /a bit operation on f64/,
      /convert it first/,
    ],
    [
      "powers of integers",
      kernel("k", { n }, ({ n }, i) => {
        n[i] = n[i] ** 2;
      }),
      "n[i] ** 2",
      /\*\* of integers/,
      /multiply/,
    ],
    [
      "f64 folded as i32",
      kernel("k", { x, t: sum(i32) }, ({ x, t }, i) => {
        t.add(x[i]);
      }),
      "t.add(x[i])",
      /t holds i32, and f64/,
      /\| 0/,
    ],
  ]);
});
