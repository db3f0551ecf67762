import { helper } from "isoform";
import type { Grid } from "isoform/grid";
import { centralFluxes } from "./central.js";
import type { Gas } from "./gas.js";
import type { Metrics } from "./metrics.js";
import { pointwise, type Real } from "./pointwise.js";
import type { Order } from "./schemes.js";
import type { Fields } from "./state.js";
import type { Splitting } from "./two-point.js";
import type { ViscousForm } from "./viscous.js";
import type { Weno } from "./weno.js";

/** How the equations are solved. */
export interface Scheme {
  readonly order: Order;
  readonly splitting: Splitting;
  readonly viscous: ViscousForm;
  /** Absent: central fluxes everywhere. Its width counts near the ends of axes even where no face takes it. */
  readonly weno?: Weno & {
    /** Faces beside which the sensor is above it take WENO: all of them below 0, none above 1. */
    readonly threshold: number;
  };
}

/** How far the widest stencils of a scheme reach. */
export const ghostsOf = ({ order, weno }: Scheme): number => Math.max(order / 2, weno?.halfWidth ?? 0);

/** u0 and l0 in units of the gas. */
export interface Reference {
  readonly speed: number;
  readonly length: number;
}

const keep = helper(
  (value: number): number => value,
  () => [],
);
const narrow = helper(
  (value: number): number => Math.fround(value),
  () => [],
);

/** Parts that containers are made of. */
export type Model = ReturnType<typeof modelOf>;

export function modelOf(
  grid: Grid<3>,
  real: Real,
  fields: Fields,
  metrics: readonly Metrics[],
  { gas, scheme, reference }: { readonly gas: Gas; readonly scheme: Scheme; readonly reference: Reference },
) {
  const cell = pointwise(gas, real);
  const { extents } = grid;
  return {
    grid,
    real,
    fields,
    metrics,
    gas,
    scheme,
    reference,
    cell,
    central: centralFluxes(scheme.order, scheme.splitting, cell, real),
    /** Layers of ghosts beyond sides that are not periodic. */
    ghosts: ghostsOf(scheme),
    /** Whether fluxes stand in fields, for faces that may take WENO. */
    isCentral: !scheme.weno || scheme.weno.threshold > 1,
    /** Whether a sensor chooses between central fluxes and WENO. */
    isHybrid: scheme.weno !== undefined && scheme.weno.threshold >= 0 && scheme.weno.threshold <= 1,
    /** Constructor of private arrays. */
    Real: real.type === "f64" ? Float64Array : Float32Array,
    /** An f64 as a number of the fields' type. */
    toReal: real.type === "f64" ? keep : narrow,
    /** Axes along which there is more than one cell: x, x and y, or all. */
    axes: extents[2] > 1 ? 3 : extents[1] > 1 ? 2 : 1,
    /** One array of each axis. */
    along: <K extends keyof Metrics>(metric: K): readonly Metrics[K][] => metrics.map((of) => of[metric]),
  };
}
