import { f64, helper, sum, table } from "isoform";
import type { Cell, Container } from "isoform/grid";
import type { Scalar } from "isoform/set";
import { plot, type Curve } from "isoform/draw";
import { viscosityAt } from "../equations/gas.js";
import { cellsOf, placeOf, type Axis } from "../equations/axes.js";
import type { Model } from "../equations/model.js";
import { STATE, type Conserved, type Temperatures, type Values } from "../equations/pointwise.js";
import { firstDerivativeOf } from "../equations/schemes.js";
import type { Flow, Simulation } from "../simulation/simulation.js";
import type { NamedColumns } from "./text-table.js";

/** The motion in a box at one time, in means over its volume. Units are the velocity and the length of reference. */
interface Motion {
  readonly time: number;
  /** Half of rho u^2. */
  readonly energy: number;
  /** Half of the vorticity's square, by differences of order 16 (`MOST_CELLS`), whatever the order of the scheme. */
  readonly enstrophy: number;
}

/**
 * Cells on each side that differences for the vorticity take: order 16; fewer on short axes and thin partitions. Waves of few cells count too little:
 * a vortex of Taylor and Green at Re 100 on 48^3 cells has 7e-4 less than by its Fourier series at time 5 (5e-3 at order 6), and 4e-10 at time 1.
 */
const MOST_CELLS = 8;

/** History of the motion in a periodic box whose cells have one size along each axis. */
export class EnergyHistory {
  readonly motions: Motion[] = [];
  private readonly energy: Scalar<"f64">;
  private readonly enstrophy: Scalar<"f64">;
  private readonly container: Container;

  constructor(private readonly simulation: Simulation) {
    const { grid, model, flow } = simulation;
    this.energy = grid.scalar("kinetic energy", f64);
    this.enstrophy = grid.scalar("enstrophy", f64);
    const least = flow.axes.map((_, n) => {
      if (grid.set.members.length === 1 || !grid.cutAxes.includes(n)) return MOST_CELLS;
      return Math.min(...grid.partitions.map(({ planes, rows }) => (n === 2 ? planes : rows![1] - rows![0])));
    });
    const reaches = flow.axes.map((axis, n) => Math.min(MOST_CELLS, (cellsOf(axis) - 1) >> 1, least[n]));
    this.container = energyOf(model, flow.axes, reaches, this.energy, this.enstrophy);
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

/**
 * @param reaches cells on each side that differences take along each axis; 0 where nothing changes
 */
function energyOf(
  { grid, Real, real, cell, fields }: Model,
  axes: readonly Axis[],
  reaches: readonly number[],
  energy: Scalar<"f64">,
  enstrophy: Scalar<"f64">,
): Container {
  const { w, T } = fields;
  const { stateOf } = cell;
  const [x, y, z] = axes.map((axis, n) => {
    const reach = reaches[n];
    const size = placeOf(axis, 1) - placeOf(axis, 0);
    const weights = table(real, [0, ...firstDerivativeOf(2 * reach).map((weight) => weight / size)]);
    return { reach, weights };
  });
  /** Adds to `g` the derivatives along axis n, of u, v and w at 3 n, 3 n + 1 and 3 n + 2. */
  const addSlopes = helper(
    (w: Conserved, T: Temperatures, c: Cell<3>, n: number, dx: number, dy: number, dz: number, weight: number, g: Values): void => {
      const [ahead, back] = [new Real(STATE), new Real(STATE)];
      stateOf(w, T, c, dx, dy, dz, ahead);
      stateOf(w, T, c, -dx, -dy, -dz, back);
      for (let i = 0; i < 3; i++) g[3 * n + i] += weight * (ahead[1 + i] - back[1 + i]);
    },
    () => [Real, STATE, stateOf],
  );
  const [xWeights, yWeights, zWeights] = [x.weights, y.weights, z.weights];
  const [xReach, yReach, zReach] = [x.reach, y.reach, z.reach];
  return grid.container(
    "energy",
    { w, T, energy: sum(energy), enstrophy: sum(enstrophy) },
    ({ w, T, energy, enstrophy }, c) => {
      const s = new Real(STATE);
      stateOf(w, T, c, 0, 0, 0, s);
      const g = new Real(9);
      for (let l = 1; l <= xReach; l++) addSlopes(w, T, c, 0, l, 0, 0, xWeights[l], g);
      for (let l = 1; l <= yReach; l++) addSlopes(w, T, c, 1, 0, l, 0, yWeights[l], g);
      for (let l = 1; l <= zReach; l++) addSlopes(w, T, c, 2, 0, 0, l, zWeights[l], g);
      const [a, b, d] = [g[5] - g[7], g[6] - g[2], g[1] - g[3]];
      energy.add(0.5 * s[0] * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]));
      enstrophy.add(0.5 * (a * a + b * b + d * d));
    },
    () => [Real, STATE, stateOf, addSlopes, xReach, yReach, zReach, xWeights, yWeights, zWeights],
  );
}

/** Columns `time`, `energy`, `dissipation` = -d(energy)/dt by differences of the samples, `enstrophy`, and `viscous` = 2 nu enstrophy, the dissipation of a flow without changes of density. */
export function energyTable(flow: Flow, motions: readonly Motion[]): NamedColumns {
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
