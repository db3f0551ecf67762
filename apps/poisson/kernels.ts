import { max, type f64 } from "isoform";
import type { Cell, Container, Field, Grid } from "isoform/grid";
import type { Scalar } from "isoform/set";

/*
 * The containers of conjugate gradients (M. R. Hestenes, E. Stiefel, J. Res. NBS 49, 1952). Cells beyond the grid and inactive ones hold 0.
 */

export type Grid3 = Grid<3>;
export type Real = Field<(typeof f64)["type"], 1, 3>;
export type Value = Scalar<"f64">;

/** s = A p, A the negative Laplacian times h^2. */
export const laplace = (grid: Grid3, p: Real, s: Real): Container =>
  grid.container("laplace", { p, s }, ({ p, s }, c) => {
    s[c] = 6 * p[c] - p.at(c, 1, 0, 0) - p.at(c, -1, 0, 0) - p.at(c, 0, 1, 0) - p.at(c, 0, -1, 0) - p.at(c, 0, 0, 1) - p.at(c, 0, 0, -1);
  });

/** p = z + (rz / before) p */
export const direction = (grid: Grid3, p: Real, z: Real, rz: Value, before: Value): Container =>
  grid.container("direction", { p, z, rz, before }, ({ p, z, rz, before }, c) => {
    p[c] = z[c] + (rz / before) * p[c];
  });

/** x = x + (rz / ps) p */
export const solution = (grid: Grid3, x: Real, p: Real, rz: Value, ps: Value): Container =>
  grid.container("solution", { x, p, rz, ps }, ({ x, p, rz, ps }, c) => {
    x[c] += (rz / ps) * p[c];
  });

/** r = r - (rz / ps) s */
export const residual = (grid: Grid3, r: Real, s: Real, rz: Value, ps: Value): Container =>
  grid.container("residual", { r, s, rz, ps }, ({ r, s, rz, ps }, c) => {
    r[c] -= (rz / ps) * s[c];
  });

/** largest = max |b|, difference = max |b - A x - r| */
export const deviation = (grid: Grid3, x: Real, r: Real, b: Real, largest: Value, difference: Value): Container =>
  grid.container(
    "deviation",
    { x, r, b, around, largest: max(largest), difference: max(difference) },
    ({ x, r, b, around, largest, difference }, c) => {
      largest.max(Math.abs(b[c]));
      difference.max(Math.abs(b[c] - (6 * x[c] - around(x, c)) - r[c]));
    },
  );

interface Neighbours {
  at(c: Cell<3>, dx: number, dy: number, dz: number): number;
}

/** The sum of the six neighbours. */
export const around = (u: Neighbours, c: Cell<3>): number =>
  u.at(c, 1, 0, 0) + u.at(c, -1, 0, 0) + u.at(c, 0, 1, 0) + u.at(c, 0, -1, 0) + u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1);
