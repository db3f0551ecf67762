import { f64, kernel, view } from "isoform";

/* Kernels that the benchmarks add to those of the applications; bench/baselines holds the same by hand. */

/** The 7-point Laplacian; the range is the interior. */
export const laplace = kernel("laplace", { p: view(f64, 3), s: view(f64, 3) }, ({ p, s }, z, y, x) => {
  s[z][y][x] = 6 * p[z][y][x] - p[z - 1][y][x] - p[z + 1][y][x] - p[z][y - 1][x] - p[z][y + 1][x] - p[z][y][x - 1] - p[z][y][x + 1];
});

/** D3Q19 BGK: pull and collide from one population to the other, both [19][nz][ny][nx]; the range is the interior. */
export const lbm = kernel("lbm", { omega: f64, from: view(f64, 4), to: view(f64, 4) }, ({ omega, from, to }, z, y, x) => {
  const f0 = from[0][z][y][x];
  const f1 = from[1][z][y][x - 1];
  const f2 = from[2][z][y][x + 1];
  const f3 = from[3][z][y - 1][x];
  const f4 = from[4][z][y + 1][x];
  const f5 = from[5][z - 1][y][x];
  const f6 = from[6][z + 1][y][x];
  const f7 = from[7][z][y - 1][x - 1];
  const f8 = from[8][z][y + 1][x + 1];
  const f9 = from[9][z][y + 1][x - 1];
  const f10 = from[10][z][y - 1][x + 1];
  const f11 = from[11][z - 1][y][x - 1];
  const f12 = from[12][z + 1][y][x + 1];
  const f13 = from[13][z + 1][y][x - 1];
  const f14 = from[14][z - 1][y][x + 1];
  const f15 = from[15][z - 1][y - 1][x];
  const f16 = from[16][z + 1][y + 1][x];
  const f17 = from[17][z + 1][y - 1][x];
  const f18 = from[18][z - 1][y + 1][x];
  const rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9 + f10 + f11 + f12 + f13 + f14 + f15 + f16 + f17 + f18;
  const inverse = 1 / rho;
  const ux = (f1 - f2 + f7 - f8 + f9 - f10 + f11 - f12 + f13 - f14) * inverse;
  const uy = (f3 - f4 + f7 - f8 - f9 + f10 + f15 - f16 + f17 - f18) * inverse;
  const uz = (f5 - f6 + f11 - f12 - f13 + f14 + f15 - f16 - f17 + f18) * inverse;
  const rest = 1 - 1.5 * (ux * ux + uy * uy + uz * uz);
  to[0][z][y][x] = f0 + omega * ((rho / 3) * rest - f0);

  // The equilibria of opposite directions share their even part.
  const face = (1 / 18) * rho;
  const edge = (1 / 36) * rho;
  const even1 = face * (rest + 4.5 * ux * ux);
  const odd1 = face * 3 * ux;
  to[1][z][y][x] = f1 + omega * (even1 + odd1 - f1);
  to[2][z][y][x] = f2 + omega * (even1 - odd1 - f2);
  const even3 = face * (rest + 4.5 * uy * uy);
  const odd3 = face * 3 * uy;
  to[3][z][y][x] = f3 + omega * (even3 + odd3 - f3);
  to[4][z][y][x] = f4 + omega * (even3 - odd3 - f4);
  const even5 = face * (rest + 4.5 * uz * uz);
  const odd5 = face * 3 * uz;
  to[5][z][y][x] = f5 + omega * (even5 + odd5 - f5);
  to[6][z][y][x] = f6 + omega * (even5 - odd5 - f6);
  const c7 = ux + uy;
  const even7 = edge * (rest + 4.5 * c7 * c7);
  const odd7 = edge * 3 * c7;
  to[7][z][y][x] = f7 + omega * (even7 + odd7 - f7);
  to[8][z][y][x] = f8 + omega * (even7 - odd7 - f8);
  const c9 = ux - uy;
  const even9 = edge * (rest + 4.5 * c9 * c9);
  const odd9 = edge * 3 * c9;
  to[9][z][y][x] = f9 + omega * (even9 + odd9 - f9);
  to[10][z][y][x] = f10 + omega * (even9 - odd9 - f10);
  const c11 = ux + uz;
  const even11 = edge * (rest + 4.5 * c11 * c11);
  const odd11 = edge * 3 * c11;
  to[11][z][y][x] = f11 + omega * (even11 + odd11 - f11);
  to[12][z][y][x] = f12 + omega * (even11 - odd11 - f12);
  const c13 = ux - uz;
  const even13 = edge * (rest + 4.5 * c13 * c13);
  const odd13 = edge * 3 * c13;
  to[13][z][y][x] = f13 + omega * (even13 + odd13 - f13);
  to[14][z][y][x] = f14 + omega * (even13 - odd13 - f14);
  const c15 = uy + uz;
  const even15 = edge * (rest + 4.5 * c15 * c15);
  const odd15 = edge * 3 * c15;
  to[15][z][y][x] = f15 + omega * (even15 + odd15 - f15);
  to[16][z][y][x] = f16 + omega * (even15 - odd15 - f16);
  const c17 = uy - uz;
  const even17 = edge * (rest + 4.5 * c17 * c17);
  const odd17 = edge * 3 * c17;
  to[17][z][y][x] = f17 + omega * (even17 + odd17 - f17);
  to[18][z][y][x] = f18 + omega * (even17 - odd17 - f18);
});
