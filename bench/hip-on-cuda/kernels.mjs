import { f64, i32, kernel, max, scatter, sum, teamKernel, view } from "isoform";

/* What HIP spells in a way of its own: reductions by shuffles, teams, atomics; and a stencil. */

export const laplace = kernel("laplace", { p: view(f64, 3), s: view(f64, 3) }, ({ p, s }, i, j, k) => {
  s[i][j][k] = 6 * p[i][j][k] - p[i - 1][j][k] - p[i + 1][j][k] - p[i][j - 1][k] - p[i][j + 1][k] - p[i][j][k - 1] - p[i][j][k + 1];
});

export const dot = kernel("dot", { s: sum(f64), m: max(i32), x: view(f64), n: view(i32) }, ({ s, m, x, n }, i) => {
  s.add(x[i] * x[i]);
  m.max(n[i]);
});

export const rowSums = teamKernel("rowSums", { a: view(f64, 2), s: view(f64) }, ({ a, s }, team) => {
  const total = team.sum(a[0].length, (j) => a[team.index][j]);
  team.single(() => {
    s[team.index] = total;
  });
});

export const histogram = kernel("histogram", { n: view(i32), h: scatter(f64), top: scatter(f64, 1, "max") }, ({ n, h, top }, i) => {
  h.add(n[i] % 97, 1);
  top.max(n[i] % 89, n[i]);
});
