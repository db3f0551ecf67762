import { kernel } from "../kernel/declare/kernel.js";
import { bool, f32, f64, fixed, i32, view } from "../kernel/declare/params.js";

/** Element types of systems. */
export type SystemType = "f64" | "f32";

const TOKENS = { f64, f32: f32 as unknown as typeof f64 };
const forBoth = <K>(make: (token: typeof f64) => K): Record<SystemType, K> => ({ f64: make(TOKENS.f64), f32: make(TOKENS.f32) });

/**
 * Thomas' algorithm, a system an element: rows from the first to the last, then unknowns from the last to the first. `ratio` keeps the upper
 * coefficients over the pivots; with `inPlace` the right sides are in x.
 */
export const solveRows = forBoth((type) =>
  kernel(
    "solveTridiagonal",
    {
      a: view(type, 3),
      b: view(type, 3),
      c: view(type, 3),
      d: view(type, 3),
      x: view(type, 3),
      ratio: view(type, 3),
      inPlace: fixed(bool),
    },
    ({ a, b, c, d, x, ratio, inPlace }, i, j) => {
      const n = x[0][0].length;
      const first = 1 / b[i][j][0];
      let above = c[i][j][0] * first;
      let value = (inPlace ? x[i][j][0] : d[i][j][0]) * first;
      ratio[i][j][0] = above;
      x[i][j][0] = value;
      for (let k = 1; k < n; k++) {
        const below = a[i][j][k];
        const pivot = 1 / (b[i][j][k] - below * above);
        above = c[i][j][k] * pivot;
        value = ((inPlace ? x[i][j][k] : d[i][j][k]) - below * value) * pivot;
        ratio[i][j][k] = above;
        x[i][j][k] = value;
      }
      for (let k = n - 2; k >= 0; k--) {
        value = x[i][j][k] - ratio[i][j][k] * value;
        x[i][j][k] = value;
      }
    },
  ),
);

/** Rows side by side as lower, middle, upper coefficient and right side, with rows `x = 0` after the last one. */
export const packRows = forBoth((type) =>
  kernel(
    "packRows",
    { a: view(type, 3), b: view(type, 3), c: view(type, 3), d: view(type, 3), rows: view(type, 4, { disjoint: true }), n: i32 },
    ({ a, b, c, d, rows, n }, i, j, k) => {
      const at = Math.min(k, n - 1);
      const own = k < n;
      rows[0][i][j][k] = own && k > 0 ? a[i][j][at] : 0;
      rows[1][i][j][k] = own ? b[i][j][at] : 1;
      rows[2][i][j][k] = k < n - 1 ? c[i][j][at] : 0;
      rows[3][i][j][k] = own ? d[i][j][at] : 0;
    },
  ),
);

/** A step of cyclic reduction for all rows: the unknowns at `distance` are replaced by those at twice that distance. */
export const reduceRows = forBoth((type) =>
  kernel(
    "reduceRows",
    { rows: view(type, 4), next: view(type, 4, { disjoint: true }), distance: i32 },
    ({ rows, next, distance }, i, j, k) => {
      const [before, after] = [Math.max(0, k - distance), Math.min(k + distance, rows[0][0][0].length - 1)];
      const lower = k < distance ? 0 : -(rows[0][i][j][k] / rows[1][i][j][before]);
      const upper = k + distance !== after ? 0 : -(rows[2][i][j][k] / rows[1][i][j][after]);
      next[0][i][j][k] = lower * rows[0][i][j][before];
      next[1][i][j][k] = rows[1][i][j][k] + lower * rows[2][i][j][before] + upper * rows[0][i][j][after];
      next[2][i][j][k] = upper * rows[2][i][j][after];
      next[3][i][j][k] = rows[3][i][j][k] + lower * rows[3][i][j][before] + upper * rows[3][i][j][after];
    },
  ),
);

export const copyUnknowns = forBoth((type) =>
  kernel("copyUnknowns", { from: view(type, 3), x: view(type, 3) }, ({ from, x }, i, j, k) => {
    x[i][j][k] = from[i][j][k];
  }),
);

/*
 * A periodic system is an open one and a product of two vectors: u = (-b_0, 0, ..., c_n-1) and v = (1, 0, ..., -a_0 / b_0), by the formula of
 * Sherman and Morrison.
 */
export const openCycle = forBoth((type) =>
  kernel(
    "openCycle",
    { a: view(type, 3), b: view(type, 3), c: view(type, 3), middle: view(type, 3), u: view(type, 3) },
    ({ a, b, c, middle, u }, i, j, k) => {
      const last = middle[0][0].length - 1;
      const corner = (a[i][j][0] * c[i][j][last]) / b[i][j][0];
      middle[i][j][k] = b[i][j][k] + (k === 0 ? b[i][j][0] : k === last ? corner : 0);
      u[i][j][k] = k === 0 ? -b[i][j][0] : k === last ? c[i][j][last] : 0;
    },
  ),
);
export const closeCycle = forBoth((type) =>
  kernel(
    "closeCycle",
    { a: view(type, 3), b: view(type, 3), y: view(type, 3), q: view(type, 3), x: view(type, 3) },
    ({ a, b, y, q, x }, i, j, k) => {
      const last = y[0][0].length - 1;
      const v = -(a[i][j][0] / b[i][j][0]);
      const factor = (y[i][j][0] + v * y[i][j][last]) / (1 + (q[i][j][0] + v * q[i][j][last]));
      x[i][j][k] = y[i][j][k] - factor * q[i][j][k];
    },
  ),
);

/** Reads an element for each unknown: the second one, which is missing, where a pivot was 0. Names are for the message. */
export const lookForZeroPivots = forBoth((type) =>
  kernel(
    "lookForZeroPivots",
    { x: view(type, 3), systemsWithoutZeroPivot: view(i32), found: view(i32, 3) },
    ({ x, systemsWithoutZeroPivot, found }, i, j, k) => {
      found[i][j][k] = systemsWithoutZeroPivot[Number.isFinite(x[i][j][k]) ? 0 : 1];
    },
  ),
);
