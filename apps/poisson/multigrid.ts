import { f64 } from "isoform";
import type { Cell } from "isoform/grid";
import { swap, type Step } from "isoform/skeleton";
import { around, type Grid3, type Real } from "./kernels.js";

/*
 * Approximate solutions of A e = f as preconditioners: sweeps of Jacobi's method, and V-cycles of multigrid (A. Brandt, Math. Comp. 31, 1977).
 * Both are symmetric and positive definite, as conjugate gradients need.
 */

/** One size of cells: the right-hand side, the approximation, and a field for whatever is on the way. */
interface Level {
  readonly grid: Grid3;
  readonly f: Real;
  readonly e: Real;
  readonly t: Real;
  /** Distance from the outermost cells' centres to the faces of the cube, in cells of this level. */
  readonly wall: number;
}

interface Sweeps {
  readonly count: number;
  /** The share of Jacobi's correction that is taken. */
  readonly weight: number;
}

/** The diagonal of the finest level: all cells have six neighbours, those on the faces included. */
const even = (_c: Cell<3>, _extra: number, _last: number): number => 6;

/** A face of the cube at the distance `wall` instead of 1 pulls with 1 / wall = 1 + extra. */
const walled = (c: Cell<3>, extra: number, last: number): number =>
  6 +
  extra *
    ((c.x === 0 ? 1 : 0) +
      (c.x === last ? 1 : 0) +
      (c.y === 0 ? 1 : 0) +
      (c.y === last ? 1 : 0) +
      (c.z === 0 ? 1 : 0) +
      (c.z === last ? 1 : 0));

const diagonalOf = ({ grid, wall }: Level) => ({
  diagonal: wall === 1 ? even : walled,
  extra: 1 / wall - 1,
  last: grid.extents[0] - 1,
});

/** Sweeps of Jacobi's method for A e = f, from e = 0. */
export function jacobi(level: Level, { count, weight }: Sweeps): Step[] {
  const { grid, f, e } = level;
  const first = grid.container("sweep 1", { f, e, weight, ...diagonalOf(level) }, ({ f, e, weight, diagonal, extra, last }, c) => {
    e[c] = (weight / diagonal(c, extra, last)) * f[c];
  });
  return [first, ...relax(level, { count: count - 1, weight })];
}

/** More sweeps. */
function relax(level: Level, { count, weight }: Sweeps): Step[] {
  const { grid, f, e, t } = level;
  const sweep = grid.container(
    "sweep",
    { f, e, t, weight, around, ...diagonalOf(level) },
    ({ f, e, t, weight, around, diagonal, extra, last }, c) => {
      const d = diagonal(c, extra, last);
      t[c] = e[c] + (weight / d) * (f[c] - d * e[c] + around(e, c));
    },
  );
  return Array.from({ length: count }, () => [sweep, swap(e, t)]).flat();
}

/** Sweeps on the coarsest level, which has few cells. */
const COARSEST: Sweeps = { count: 12, weight: 6 / 7 };

/** One V-cycle for A e = f on the first of the levels, from e = 0. */
export function vCycle([level, ...coarser]: readonly Level[], sweeps: Sweeps): Step[] {
  const [next] = coarser;
  if (!next) return jacobi(level, COARSEST);
  const { grid, f, e, t } = level;
  const defect = grid.container("defect", { f, e, t, around, ...diagonalOf(level) }, ({ f, e, t, around, diagonal, extra, last }, c) => {
    t[c] = f[c] - diagonal(c, extra, last) * e[c] + around(e, c);
  });
  return [
    ...jacobi(level, sweeps),
    defect,
    restrict(level, next),
    ...vCycle(coarser, sweeps),
    prolong(level, next),
    ...relax(level, sweeps),
  ];
}

/** Linear interpolation from cells of twice the size: their centres are a quarter of their size away along each axis, or three quarters. */
const near = (o: number): number => (o === 0 || o === 1 ? 0.75 : 0.25);
const share = (place: number, o: number): number => (o === 0 ? 0.75 : (place & 1) === (o === 1 ? 1 : 0) ? 0.25 : 0);

/** The transpose of `prolong`, times 1/2: the sum of 8 cells' values times h^2 for the mean times (2h)^2. */
const restrict = ({ t }: Level, { grid, f }: Level): Step =>
  grid.container("restrict", { f, t, near }, ({ f, t, near }, c) => {
    let total = 0.0;
    for (let k = -1; k <= 2; k++)
      for (let j = -1; j <= 2; j++) for (let i = -1; i <= 2; i++) total += near(i) * near(j) * near(k) * t.fine(c, i, j, k);
    f[c] = total / 2;
  });

const prolong = ({ grid, e }: Level, { e: correction }: Level): Step =>
  grid.container("prolong", { e, correction, share }, ({ e, correction, share }, c) => {
    let total = 0.0;
    for (let k = -1; k <= 1; k++)
      for (let j = -1; j <= 1; j++)
        for (let i = -1; i <= 1; i++) total += share(c.x, i) * share(c.y, j) * share(c.z, k) * correction.coarse(c, i, j, k);
    e[c] += total;
  });

/** The finest level, on `grid`, and `coarser` ones of half as many cells along each axis. */
export function levelsOf(grid: Grid3, f: Real, e: Real, t: Real, coarser: number): Level[] {
  const levels: Level[] = [{ grid, f, e, t, wall: 1 }];
  for (let n = 1, above = grid; n <= coarser; n++) {
    above = above.coarsen();
    const field = (name: string): Real => above.field(`${name}${n}`, f64);
    // The outermost cell's centre moves inwards by half of a finer cell.
    levels.push({ grid: above, f: field("f"), e: field("e"), t: field("t"), wall: (levels[n - 1].wall + 0.5) / 2 });
  }
  return levels;
}
