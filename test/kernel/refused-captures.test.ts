/* Kernels with mistakes in them, which are made on purpose. */
import { describe } from "node:test";
import { f64, kernel, view } from "isoform";
import { refuses } from "./refuses.js";

const y = view(f64);

const outside = 3;
const captured = { f: (v: number): number => v };
const fibonacci = (v: number): number => (v < 2 ? v : fibonacci(v - 1) + fibonacci(v - 2));

describe("captures are refused", () => {
  refuses([
    [
      "of variables",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = outside * 2;
      }),
      "outside * 2",
      /captures "outside", which is not a parameter/,
      /list it after the function: kernel\(name, \{ \.\.\. \}, \(\{ \.\.\. \}, i\) => \.\.\., \(\) => \[outside\]\)/,
    ],
    [
      "of variables by helpers",
      kernel("k", { y, f: (v: number) => v * outside }, ({ y, f }, i) => {
        y[i] = f(2);
      }),
      "outside",
      /captures "outside"/,
      /list it after the function/,
    ],
    [
      "of functions of modules",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = captured.f(y[i]);
      }),
      "captured.f",
      /captures "captured.f"/,
      /list it after the function: kernel\(.*\(\) => \[captured\.f\]\)/,
    ],
    [
      "of parameters that are not taken",
      kernel("k", { y, outside: f64 }, ({ y }, i) => {
        y[i] = outside;
      }),
      "outside;",
      /captures "outside"/,
      /list it after the function/,
    ],
    [
      "under names that are no parameters",
      kernel("k", { y }, (p, i) => {
        p.y[i] = (p as unknown as { z: number }).z;
      }),
      "p as unknown",
      /there is no parameter "z"/,
    ],
    [
      "of recursive helpers",
      kernel("k", { y, fibonacci }, ({ y, fibonacci }, i) => {
        y[i] = fibonacci(y[i]);
      }),
      "fibonacci(v - 1)",
      /fibonacci calls itself/,
      /no recursion; write a loop/,
    ],
    [
      "of functions inside that call themselves",
      kernel("k", { y }, ({ y }, i) => {
        const down = (v: number): number => (v > 0 ? down(v - 1) : v);
        y[i] = down(y[i]);
      }),
      "down(v - 1)",
      /down calls itself/,
      /loop/,
    ],
  ]);
});
