import { i32 } from "isoform";
import type { AxisArray, AxisName, Grid } from "isoform/grid";
import { cellsOf, placeOf, type Axis } from "./axes.js";
import type { Real } from "./pointwise.js";
import { FIRST_DERIVATIVE, SECOND_DERIVATIVE } from "./schemes.js";

/*
 * Metrics of a stretched axis for containers: arrays along it.
 */

/** One number for each coordinate of an axis. */
export type Along = AxisArray<"f64" | "f32" | "i32", 1, 1>;

export interface Metrics {
  /** d xi / d x by the scheme's order; xi counts cells. */
  readonly slope: Along;
  /** x'' (d xi / d x)^2, by which f_xx = f'' slope^2 - f_x bend. */
  readonly bend: Along;
  /** 1 over the distance to the next cell; one ghost. */
  readonly gap: Along;
  /** 1 over the distance between the two neighbours. */
  readonly span: Along;
  /** For the face after each cell: cells on each side that central fluxes and WENO take; one ghost. */
  readonly reach: Along;
  readonly wenoReach: Along;
  /** `slope`, and 0 in first layers that get no convective fluxes of this axis. */
  readonly inflow: Along;
  readonly isBounded: boolean;
}

/** Properties of the scheme that metrics depend on. */
interface Reaches {
  readonly order: number;
  /** Half the width of WENO; 0 where there is none. */
  readonly weno: number;
  /** Cells of an axis in whose layers there is no convection along it. */
  readonly edges?: readonly number[];
}

/** How far a face reaches that has `before` cells of `cells` before it: near the ends of an axis that is not periodic, less than `most`. */
function reachAt(
  before: number,
  { periodic, cells }: { readonly periodic: boolean; readonly cells: number },
  most: number,
  { order, weno }: Reaches,
): number {
  const fromEnd = Math.min(before, cells - before);
  const widest = Math.max(order / 2, weno);
  const change = periodic ? 0 : fromEnd < 2 ? 1 - widest : Math.min(fromEnd - widest, 0);
  return Math.max(most + change, 1);
}

/** The metrics of an axis of one cell are 0: nothing changes along it. */
export function metricsOf(grid: Grid<3>, name: AxisName<3>, axis: Axis, reaches: Reaches, real: Real): Metrics {
  const { order, weno, edges = [] } = reaches;
  const { periodic } = axis;
  const count = cellsOf(axis);
  const x = (n: number): number => placeOf(axis, n);
  const first = FIRST_DERIVATIVE[order];
  const second = SECOND_DERIVATIVE[order];
  const dx = (n: number): number => first.reduce((sum, c, l) => sum + c * (x(n + l + 1) - x(n - l - 1)), 0);
  const dxx = (n: number): number => second.slice(1).reduce((sum, d, l) => sum + d * (x(n + l + 1) + x(n - l - 1)), second[0] * x(n));
  const along = (of: (n: number) => number, reach = 0): Along =>
    grid.axis(name, real, (n) => (count === 1 ? 0 : of(n)), { ghosts: reach }) as Along;
  const reach = (most: number): Along =>
    grid.axis(name, i32, (n) => reachAt(n + 1, { periodic, cells: count }, most, reaches), { ghosts: 1 }) as Along;
  return {
    slope: along((n) => 1 / dx(n)),
    bend: along((n) => dxx(n) / dx(n) ** 2),
    gap: along((n) => 1 / (x(n + 1) - x(n)), 1),
    span: along((n) => 1 / (x(n + 1) - x(n - 1))),
    reach: reach(order / 2),
    wenoReach: reach(weno),
    inflow: along((n) => (edges.includes(n) ? 0 : 1 / dx(n))),
    isBounded: !periodic,
  };
}
