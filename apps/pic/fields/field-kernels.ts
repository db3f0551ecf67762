import { f64, kernel, max, sum, view } from "isoform";

/*
 * The kernels over the grid. Scalars come as [a][b][c] with the axes in the cyclic order that a kernel works in, circulant matrices as their
 * row 0 (mesh.ts).
 */

/** y := keep y + factor A x along axis a. */
export const circulant = kernel(
  "circulant",
  { row: view(f64), x: view(f64, 3), y: view(f64, 3), factor: f64, keep: f64 },
  ({ row, x, y, factor, keep }, i, j, k) => {
    let total = 0;
    let from = i;
    for (let m = 0; m < row.length; m++) {
      total += row[m] * x[from][j][k];
      from = from + 1 < row.length ? from + 1 : 0;
    }
    y[i][j][k] = keep * y[i][j][k] + factor * total;
  },
);

/**
 * M1 e_a += dt (C^T M2 b)_a. Mass matrices along axes that a difference does not touch cancel, which leaves e_a += dt (R_c b_b - R_b b_c)
 * with the circulant matrices R = K_p^-1 D^T K_(p-1) of one axis.
 */
export const ampere = kernel(
  "ampere",
  { rowB: view(f64), rowC: view(f64), fieldB: view(f64, 3), fieldC: view(f64, 3), e: view(f64, 3), dt: f64 },
  ({ rowB, rowC, fieldB, fieldC, e, dt }, i, j, k) => {
    let total = 0;
    let from = k;
    for (let m = 0; m < rowC.length; m++) {
      total += rowC[m] * fieldB[i][j][from];
      from = from + 1 < rowC.length ? from + 1 : 0;
    }
    from = j;
    for (let m = 0; m < rowB.length; m++) {
      total -= rowB[m] * fieldC[i][from][k];
      from = from + 1 < rowB.length ? from + 1 : 0;
    }
    e[i][j][k] += dt * total;
  },
);

/** b_a -= dt (C e)_a = dt (D_b e_c - D_c e_b). */
export const faraday = kernel(
  "faraday",
  { hb: f64, hc: f64, fieldB: view(f64, 3), fieldC: view(f64, 3), b: view(f64, 3), dt: f64 },
  ({ hb, hc, fieldB, fieldC, b, dt }, i, j, k) => {
    const before = j > 0 ? j - 1 : b[0].length - 1;
    const below = k > 0 ? k - 1 : b[0][0].length - 1;
    const curl = (fieldC[i][j][k] - fieldC[i][before][k]) / hb - (fieldB[i][j][k] - fieldB[i][j][below]) / hc;
    b[i][j][k] -= dt * curl;
  },
);

/** u := -D_a phi, with D_a the backward difference along axis a. */
export const negativeGradient = kernel("negativeGradient", { h: f64, phi: view(f64, 3), u: view(f64, 3) }, ({ h, phi, u }, i, j, k) => {
  const before = i > 0 ? i - 1 : phi.length - 1;
  u[i][j][k] = (phi[before][j][k] - phi[i][j][k]) / h;
});

/** The largest |div b|. */
export const divergence = kernel(
  "divergence",
  { ha: f64, hb: f64, hc: f64, b1: view(f64, 3), b2: view(f64, 3), b3: view(f64, 3), most: max(f64) },
  ({ ha, hb, hc, b1, b2, b3, most }, i, j, k) => {
    const left = i > 0 ? i - 1 : b1.length - 1;
    const before = j > 0 ? j - 1 : b1[0].length - 1;
    const below = k > 0 ? k - 1 : b1[0][0].length - 1;
    most.max(Math.abs((b1[i][j][k] - b1[left][j][k]) / ha + (b2[i][j][k] - b2[i][before][k]) / hb + (b3[i][j][k] - b3[i][j][below]) / hc));
  },
);

/** The largest residual of Gauss' law, |-G^T m - (rho - mean)|, with m = M1 e. */
export const gauss = kernel(
  "gauss",
  {
    ha: f64,
    hb: f64,
    hc: f64,
    m1: view(f64, 3),
    m2: view(f64, 3),
    m3: view(f64, 3),
    rho: view(f64, 3),
    /** The sum of rho, and what share of it each coefficient has in the mean. */
    charge: view(f64),
    each: f64,
    most: max(f64),
  },
  ({ ha, hb, hc, m1, m2, m3, rho, charge, each, most }, i, j, k) => {
    const right = i + 1 < m1.length ? i + 1 : 0;
    const behind = j + 1 < m1[0].length ? j + 1 : 0;
    const above = k + 1 < m1[0][0].length ? k + 1 : 0;
    const outflow = (m1[right][j][k] - m1[i][j][k]) / ha + (m2[i][behind][k] - m2[i][j][k]) / hb + (m3[i][j][above] - m3[i][j][k]) / hc;
    most.max(Math.abs(outflow - (rho[i][j][k] - each * charge[0])));
  },
);

/** The discrete Fourier transform along axis a, without a factor: of exp(-i theta m n) for `sign` 1, exp(i theta m n) for -1. */
export const fourier = kernel(
  "fourier",
  {
    cosine: view(f64),
    sine: view(f64),
    sign: f64,
    re: view(f64, 3),
    im: view(f64, 3),
    reOut: view(f64, 3),
    imOut: view(f64, 3),
  },
  ({ cosine, sine, sign, re, im, reOut, imOut }, i, j, k) => {
    let sumRe = 0;
    let sumIm = 0;
    let angle = 0;
    for (let m = 0; m < cosine.length; m++) {
      const c = cosine[angle];
      const s = sign * sine[angle];
      sumRe += c * re[m][j][k] + s * im[m][j][k];
      sumIm += c * im[m][j][k] - s * re[m][j][k];
      angle += i;
      if (angle >= cosine.length) angle -= cosine.length;
    }
    reOut[i][j][k] = sumRe;
    imOut[i][j][k] = sumIm;
  },
);

/* Over all coefficients as one vector. */

export const total = kernel("total", { x: view(f64), result: sum(f64) }, ({ x, result }, i) => {
  result.add(x[i]);
});

export const dot = kernel("dot", { x: view(f64), y: view(f64), result: sum(f64) }, ({ x, y, result }, i) => {
  result.add(x[i] * y[i]);
});

/** x_i := f_i x_i */
export const scaleBy = kernel("scaleBy", { f: view(f64), x: view(f64) }, ({ f, x }, i) => {
  x[i] *= f[i];
});
