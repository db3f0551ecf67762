import { f64, helper, sum } from "isoform";
import type { Cell, Container } from "isoform/grid";
import type { Scalar } from "isoform/set";
import { plot, type Curve } from "../plot.js";
import { viscosityAt } from "./gas.js";
import type { Model } from "./model.js";
import { STATE, type Conserved, type Temperatures, type Values } from "./pointwise.js";
import type { Flow, Simulation } from "./simulation.js";
import type { Columns } from "./text-table.js";
import { differences } from "./viscous.js";

/** The motion in a box at one time, in means over its volume. Velocities are by that of reference, times by length and velocity. */
export interface Motion {
  readonly time: number;
  /** Half of rho u^2. */
  readonly energy: number;
  /** Half of the vorticity's square, by differences of the scheme's order. */
  readonly enstrophy: number;
}

/** What has become of the motion in a box. */
export class EnergyHistory {
  readonly motions: Motion[] = [];
  private readonly energy: Scalar<"f64">;
  private readonly enstrophy: Scalar<"f64">;
  private readonly container: Container;

  constructor(private readonly simulation: Simulation) {
    const { grid, model } = simulation;
    this.energy = grid.scalar("kinetic energy", f64);
    this.enstrophy = grid.scalar("enstrophy", f64);
    this.container = energyOf(model, this.energy, this.enstrophy);
  }

  /** Adds the flow as it is now. */
  async sample(): Promise<void> {
    const { grid, settings, flow, time } = this.simulation;
    await grid.run(this.container, settings);
    const { speed, length } = flow.reference;
    const [energy, enstrophy] = [await this.energy.get(), await this.enstrophy.get()].map((total) => total / grid.cells / speed ** 2);
    this.motions.push({ time: ((await time.get()) * speed) / length, energy, enstrophy: enstrophy * length ** 2 });
  }
}

function energyOf(
  { grid, Real, axes, real, cell, scheme, fields, along }: Model,
  energy: Scalar<"f64">,
  enstrophy: Scalar<"f64">,
): Container {
  const { w, T } = fields;
  const { stateOf } = cell;
  const { addGradient } = differences("expanded", scheme.order, cell, real);
  const [x, y, z] = along("slope");
  const gradientOf = helper(
    (w: Conserved, T: Temperatures, c: Cell<3>, x: number, y: number, z: number, g: Values): void => {
      addGradient(w, T, c, 0, 1, 0, 0, x, g);
      if (axes > 1) addGradient(w, T, c, 1, 0, 1, 0, y, g);
      if (axes > 2) addGradient(w, T, c, 2, 0, 0, 1, z, g);
    },
    () => [axes, addGradient],
  );
  return grid.container(
    "energy",
    { w, T, x, y, z, energy: sum(energy), enstrophy: sum(enstrophy) },
    ({ w, T, x, y, z, energy, enstrophy }, c) => {
      const s = new Real(STATE);
      stateOf(w, T, c, 0, 0, 0, s);
      const g = new Real(9);
      gradientOf(w, T, c, x[c], y[c], z[c], g);
      const [a, b, d] = [g[5] - g[7], g[6] - g[2], g[1] - g[3]];
      energy.add(0.5 * s[0] * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]));
      enstrophy.add(0.5 * (a * a + b * b + d * d));
    },
    () => [Real, STATE, stateOf, gradientOf],
  );
}

/** Columns `time`, `energy`, `dissipation` = -d(energy)/dt by differences of the samples, `enstrophy`, and `viscous` = 2 nu enstrophy, the dissipation of a flow without changes of density. */
export function energyTable(flow: Flow, motions: readonly Motion[]): Columns {
  const { speed, length } = flow.reference;
  const viscosity = viscosityAt(flow.gas, 1) / speed / length;
  const dissipation = motions.map((_, n) => {
    const [before, after] = [motions[Math.max(n - 1, 0)], motions[Math.min(n + 1, motions.length - 1)]];
    return before === after ? Number.NaN : (before.energy - after.energy) / (after.time - before.time);
  });
  const column = (value: (motion: Motion, n: number) => number): Float64Array => Float64Array.from(motions, value);
  return new Map([
    ["time", column(({ time }) => time)],
    ["energy", column(({ energy }) => energy)],
    ["dissipation", column((_, n) => dissipation[n])],
    ["enstrophy", column(({ enstrophy }) => enstrophy)],
    ["viscous", column(({ enstrophy }) => 2 * viscosity * enstrophy)],
  ]);
}

/** The greatest dissipation of Taylor and Green's vortex at Re 1600 and M 0.2 or less, on grids that resolve it. */
const PEAK_1600 = { time: 8.97, dissipation: 1.28575e-2 } as const;

/** Energy and dissipation over time, as SVG; `isKnown` of Taylor and Green's vortex at Re 1600, whose peak is shown beside it. */
export function energyFigure(flow: Flow, motions: readonly Motion[], isKnown: boolean): string {
  const table = energyTable(flow, motions);
  const of = (column: string, name: string): Curve => ({ name, as: "line", x: table.get("time")!, y: table.get(column)! });
  const peak: Curve = { name: "peak, resolved", as: "points", x: [PEAK_1600.time], y: [PEAK_1600.dissipation] };
  const time = { label: "t u0 / L" };
  return plot(`Motion in a box, ${motions.length} samples`, [
    { title: "Kinetic energy", x: time, y: { label: "rho u^2 / 2 u0^2", from: 0 }, curves: [of("energy", "mean over the box")] },
    {
      title: "Dissipation",
      x: time,
      y: { label: "rate / (u0^3 / L)", from: 0, ...(isKnown && { to: 0.015 }) },
      curves: [of("dissipation", "-dE/dt"), of("viscous", "2 nu enstrophy"), ...(isKnown ? [peak] : [])],
    },
  ]);
}
