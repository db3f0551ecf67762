import { bf16, bool, f16, f32, f64, i16, i8, kernel, scatter, stored, sum, teamKernel, u16, view } from "../../../src/index.js";

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

/** Every storage type, read and written. */
export const narrow = kernel(
  "narrow",
  {
    x: view(f32),
    a: view(f16),
    b: view(stored(bf16, { scale: 0.5 })),
    c: view(i8),
    d: view(u16),
    e: view(stored(i16, { scale: 0.25 })),
    f: view(bool),
    y: view(f32),
  },
  ({ x, a, b, c, d, e, f, y }, i) => {
    y[i] = a[i] * b[i] + c[i] + d[i];
    if (f[i]) y[i] = y[i] - e[i];
    a[i] = x[i];
    b[i] = x[i];
    e[i] = x[i];
    c[i] = d[i] + c[i];
    d[i] = c[i] * 3;
    f[i] = x[i] > 0;
  },
);
