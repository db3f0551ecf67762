import { plot, type Curve, type Panel } from "isoform/draw";
import { innerPoints } from "../equations/axes.js";
import { CONSERVED } from "../equations/pointwise.js";
import type { State1D } from "../starts/riemann.js";
import type { Simulation } from "../simulation/simulation.js";
import type { NamedColumns } from "./text-table.js";
import type { Tube } from "../starts/tube.js";

/** Density, velocity and pressure along a tube as it is now, and where it is known the exact solution. */
interface TubeProfiles {
  readonly time: number;
  readonly x: Float64Array;
  readonly found: readonly State1D[];
  readonly exact?: readonly State1D[];
}

/** Profiles along the first line of cells. */
export async function tubeProfiles({ flow, fields, time }: Simulation, { exact }: Tube): Promise<TubeProfiles> {
  const [w, now] = [await fields.w.download(), await time.get()];
  const x = innerPoints(flow.axes[0]);
  const found = Array.from(x, (_, n): State1D => {
    const [rho, mx, my, mz, E] = w.subarray(CONSERVED * n, CONSERVED * (n + 1));
    return { rho, u: mx / rho, p: (flow.gas.gamma - 1) * (E - (0.5 * (mx ** 2 + my ** 2 + mz ** 2)) / rho) };
  });
  return { time: now, x, found, ...(exact && { exact: Array.from(x, (at) => exact(at, now)) }) };
}

/** Mean of |rho - exact rho| over the cells; undefined if no solution is known. */
const tubeError = ({ found, exact }: TubeProfiles): number | undefined =>
  exact && found.reduce((sum, { rho }, n) => sum + Math.abs(rho - exact[n].rho), 0) / found.length;

/** Text on a tube whose solution is known. */
export function tubeText(profiles: TubeProfiles): string {
  const error = tubeError(profiles);
  return error === undefined ? "" : `mean error of the density ${error.toPrecision(4)} beside the exact solution\n`;
}

const STATES = [
  ["rho", "Density"],
  ["u", "Velocity"],
  ["p", "Pressure"],
] as const;

/** Columns `x`, `rho`, `u`, `p`, and `rho_exact`, `u_exact`, `p_exact` where they are known. */
export function tubeTable({ x, found, exact }: TubeProfiles): NamedColumns {
  const of = (states: readonly State1D[], ending: string) =>
    STATES.map(([key]) => [`${key}${ending}`, Float64Array.from(states, (state) => state[key])] as const);
  return new Map([["x", x], ...of(found, ""), ...(exact ? of(exact, "_exact") : [])]);
}

/** The three beside each other, with the exact solution, as SVG. */
export function tubeFigure(name: string, { time, x, found, exact }: TubeProfiles): string {
  const curve = (states: readonly State1D[], key: keyof State1D, of: Pick<Curve, "name" | "as">): Curve => ({
    ...of,
    x,
    y: Float64Array.from(states, (state) => state[key]),
  });
  const panel = ([key, title]: (typeof STATES)[number]): Panel => ({
    title,
    x: { label: "x" },
    y: { label: key },
    curves: [
      ...(exact ? [curve(exact, key, { name: "exact", as: "dashes" })] : []),
      curve(found, key, { name: `${x.length} cells`, as: "line" }),
    ],
  });
  return plot(`Tube (${name}) at t = ${Number(time.toPrecision(4))}`, STATES.map(panel));
}
