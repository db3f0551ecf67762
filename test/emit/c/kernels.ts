import { f64, kernel, scatter, sum, teamKernel, view } from "../../../src/index.js";

/* Kernels whose emitted C is kept as text beside this file. Their source lines appear in it. */

export const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});

export const laplace = kernel("laplace", { p: view(f64, 3), s: view(f64, 3) }, ({ p, s }, i, j, k) => {
  s[i][j][k] = 6 * p[i][j][k] - p[i - 1][j][k] - p[i + 1][j][k] - p[i][j - 1][k] - p[i][j + 1][k] - p[i][j][k - 1] - p[i][j][k + 1];
});

export const dot = kernel("dot", { s: sum(f64), x: view(f64), y: view(f64) }, ({ s, x, y }, i) => {
  s.add(x[i] * y[i]);
});

export const histogram = kernel("histogram", { x: view(f64), h: scatter(f64) }, ({ x, h }, i) => {
  if (x[i] >= 0) h.add(x[i] | 0, 1);
});

export const rowSums = teamKernel("rowSums", { a: view(f64, 2), s: view(f64) }, ({ a, s }, team) => {
  const total = team.sum(a[0].length, (j) => a[team.index][j]);
  team.single(() => {
    s[team.index] = total;
  });
});
