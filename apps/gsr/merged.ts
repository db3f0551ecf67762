import { f64, i32, kernel, sum, view } from "isoform";

/*
 * The merged norm: alpha^2 = |A^T u - beta v|^2 from sums that are known before the product is complete, so that an iteration brings sums together once.
 * With T = beta A^T u it is T.T / beta^2 - 2 T.v + beta^2 v.v. The last factor is measured: taken as 1 it ruins the iteration. Rows of constraints that
 * hold unknowns of stars (F, with c = F's part of u) add F^T c to T after its sums were made: T.T grows by 2 c.(F T) + c.(F F^T) c, and T.v by c.(F v).
 */

/** The share of the positive terms below which the difference is not trusted. */
const LEAST_SHARE = 1e-3;

/** The three sums over some unknowns. */
export const threeSums = kernel(
  "threeSums",
  { t: view(f64), v: view(f64), tSquares: sum(f64), tTimesV: sum(f64), vSquares: sum(f64) },
  ({ t, v, tSquares, tTimesV, vSquares }, j) => {
    tSquares.add(t[j] * t[j]);
    tTimesV.add(t[j] * v[j]);
    vSquares.add(v[j] * v[j]);
  },
);

const scalar = view(f64);

/** alpha^2 from the sums over stars and over shared unknowns; `doubt` is 1 where too little of them is left. */
export const mergedAlpha = kernel(
  "mergedAlpha",
  {
    tSquares: scalar,
    tTimesV: scalar,
    vSquares: scalar,
    tSquaresShared: scalar,
    tTimesVShared: scalar,
    vSquaresShared: scalar,
    beta: scalar,
    inverseBeta: scalar,
    alphaSquared: scalar,
    alphaSquaredStars: scalar,
    doubt: scalar,
    rows: i32,
    row: view(i32),
    u: view(f64),
    rowsTimesV: view(f64),
    rowsTimesT: view(f64),
    gram: view(f64, 2),
  },
  (p, i) => {
    let tt = p.tSquares[i];
    let tv = p.tTimesV[i];
    for (let f = 0; f < p.rows; f++) {
      const c = p.u[p.row[f]];
      let part = 2 * p.rowsTimesT[f];
      for (let g = 0; g < p.rows; g++) part += p.gram[f][g] * p.u[p.row[g]];
      tt += c * part;
      tv += c * p.rowsTimesV[f];
    }
    tt += p.tSquaresShared[i];
    tv += p.tTimesVShared[i];
    const vv = p.vSquares[i] + p.vSquaresShared[i];
    const positive = tt * p.inverseBeta[i] * p.inverseBeta[i] + p.beta[i] * p.beta[i] * vv;
    const square = positive - 2 * tv;
    p.doubt[i] = square > LEAST_SHARE * positive ? 0 : 1;
    p.alphaSquared[i] = square;
    p.alphaSquaredStars[i] = 0;
  },
  () => [LEAST_SHARE],
);

/** The sum of squares of A^T u - beta v, from the product itself. */
export const measure = kernel(
  "measure",
  { inverseBeta: scalar, minusBeta: scalar, t: view(f64), v: view(f64), squares: sum(f64) },
  ({ inverseBeta, minusBeta, t, v, squares }, j) => {
    const next = t[j] * inverseBeta[0] + v[j] * minusBeta[0];
    squares.add(next * next);
  },
);

/** v := (A^T u - beta v) / alpha and what `update` does; t := 0. */
export const advance = kernel(
  "advance",
  {
    inverseBeta: scalar,
    minusBeta: scalar,
    inverseAlpha: scalar,
    inverseRho: scalar,
    xStep: scalar,
    wStep: scalar,
    t: view(f64),
    v: view(f64),
    w: view(f64),
    x: view(f64),
    variance: view(f64),
  },
  ({ inverseBeta, minusBeta, inverseAlpha, inverseRho, xStep, wStep, t, v, w, x, variance }, j) => {
    const old = w[j];
    const d = old * inverseRho[0];
    const direction = (t[j] * inverseBeta[0] + v[j] * minusBeta[0]) * inverseAlpha[0];
    t[j] = 0;
    x[j] += xStep[0] * old;
    variance[j] += d * d;
    v[j] = direction;
    w[j] = direction - wStep[0] * old;
  },
);
