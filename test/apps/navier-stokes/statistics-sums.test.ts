import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { devices } from "isoform/set";
import { placeOf } from "../../../apps/navier-stokes/equations/axes.js";
import { CASE_OF } from "../../../apps/navier-stokes/cases/cases.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import type { CaseName, Given } from "../../../apps/navier-stokes/config/config-keys.js";
import { gammaAt, heatAt, temperatureAt, viscosityAt } from "../../../apps/navier-stokes/equations/gas.js";
import { FIRST_DERIVATIVE } from "../../../apps/navier-stokes/equations/schemes.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";
import { STATISTICS, type MeanFactor } from "../../../apps/navier-stokes/measures/statistics-names.js";

const set = await devices("wasm");
after(() => set.close());

/** All factors of a cell, from the whole field with its ghosts, by plain loops. */
async function factorsOf(simulation: Simulation): Promise<(i: number, j: number, k: number) => Record<MeanFactor, number>> {
  const { flow, grid, fields } = simulation;
  const { axes, gas, scheme } = flow;
  const w = await fields.w.download({ ghosts: true });
  const stored = grid.extents.map((n, axis) => n + grid.ghosts[axis][0] + grid.ghosts[axis][1]);
  const valueAt = (place: readonly number[], component: number): number => {
    const [a, b, c] = place.map((n, axis) => {
      const { periodic } = axes[axis];
      return periodic ? (n + grid.extents[axis]) % grid.extents[axis] : n + grid.ghosts[axis][0];
    });
    return w[5 * (a + stored[0] * (b + stored[1] * c)) + component];
  };
  const c = FIRST_DERIVATIVE[scheme.order];
  const derivative = (place: readonly number[], component: number, axis: number): number => {
    if (grid.extents[axis] === 1) return 0;
    const moved = (l: number): number[] => place.map((n, each) => (each === axis ? n + l : n));
    const velocity = (l: number): number => valueAt(moved(l), 1 + component) / valueAt(moved(l), 0);
    const [rise, run] = [velocity, (l: number) => placeOf(axes[axis], place[axis] + l)].map((f) =>
      c.reduce((sum, weight, l) => sum + weight * (f(l + 1) - f(-l - 1)), 0),
    );
    return rise / run;
  };
  return (...place) => {
    const [rho, ru, rv, rw, E] = [0, 1, 2, 3, 4].map((component) => valueAt(place, component));
    const [u, v, w] = [ru / rho, rv / rho, rw / rho];
    const half = (u * u + v * v + w * w) / 2;
    const T = temperatureAt(gas, E / rho - half);
    const [p, mu, cp, gamma] = [rho * T, viscosityAt(gas, T), heatAt(gas, T), gammaAt(gas, T)];
    const d = [0, 1, 2].map((component) => [0, 1, 2].map((axis) => derivative(place, component, axis)));
    const div = d[0][0] + d[1][1] + d[2][2];
    const tau = [0, 1, 2].map((a) => [0, 1, 2].map((b) => mu * (d[a][b] + d[b][a] - (a === b ? (2 / 3) * div : 0))));
    const product = (a: number, b: number): number => [0, 1, 2].reduce((sum, n) => sum + tau[a][n] * d[b][n], 0);
    const scalars = { rho, u, v, w, p, T, mu, nu: mu / rho, Tt: T + half / cp, mach: Math.sqrt((2 * half) / (gamma * T)), cp, gamma };
    const [omega_x, omega_y, omega_z] = [d[2][1] - d[1][2], d[0][2] - d[2][0], d[1][0] - d[0][1]];
    const [[tau_xx, tau_xy, tau_xz], [, tau_yy, tau_yz], [, , tau_zz]] = tau;
    const [transport_x, transport_y] = [tau_xx * v + tau_xy * u, tau_xy * v + tau_yy * u];
    const [dissipation_xx, dissipation_yy, dissipation_zz] = [0, 1, 2].map((n) => product(n, n));
    const [dissipation_xy, dudy_dvdx] = [product(0, 1) + product(1, 0), d[0][1] + d[1][0]];
    const [dudx, dvdy, dwdz] = [0, 1, 2].map((n) => d[n][n]);
    return {
      ...scalars,
      omega_x,
      omega_y,
      omega_z,
      tau_xx,
      tau_xy,
      tau_xz,
      tau_yy,
      tau_yz,
      tau_zz,
      transport_x,
      transport_y,
      dissipation_xx,
      dissipation_yy,
      dissipation_zz,
      dissipation_xy,
      dudx,
      dvdy,
      dwdz,
      dudy_dvdx,
      div,
    };
  };
}

const CHANNEL: Given = { nx: 12, ny: 16, nz: 12, lx: 6, lz: 3, reTau: 100, mach: 2, thetaWall: 0.35, cfl: 0.7, sensorThreshold: 1.01 };
const FLOWS: readonly (readonly [title: string, name: CaseName, given: Given])[] = [
  ["a channel of a thermally perfect gas", "channel", { ...CHANNEL, gas: "thermal" }],
  ["a laminar layer", "layer", { inflow: "laminar", nx: 24, ny: 24, nz: 8, nWall: 12 }],
  ["a plane flow of order 4", "box", { flow: "vortex", nx: 16, ny: 16, order: 4, weno: 3 }],
];

describe("statistics are the means of the whole field", () => {
  for (const [title, name, given] of FLOWS)
    it(`of ${title}`, async () => {
      const flow = CASE_OF[name].flow(configOf(name, given));
      const { lx } = configOf(name, given);
      // A channel starts without changes along x.
      const wave = (x: number): number => (name === "channel" ? 1 + 0.02 * Math.sin((2 * Math.PI * x) / lx) : 1);
      const initial = (x: number, y: number, z: number, k: number): number => wave(x) * flow.initial(x, y, z, k);
      const simulation = await Simulation.create(set, { ...flow, initial, initialOnDevices: undefined }, { statsEvery: 2 });
      const { grid } = simulation;
      const [nx, ny, nz] = grid.extents;
      const alongX = flow.channel !== undefined;
      const width = alongX ? 1 : nx;
      const sums = STATISTICS.map(() => new Float64Array(width * ny));
      const largest = STATISTICS.map(() => 0);
      for (let sample = 0; sample < 2; sample++) {
        await simulation.run(2);
        const factors = await factorsOf(simulation);
        for (let k = 0; k < nz; k++)
          for (let j = 0; j < ny; j++)
            for (let i = 0; i < nx; i++) {
              const found = factors(i, j, k);
              STATISTICS.forEach(({ of }, n) => {
                const value = of.reduce((product, factor) => product * found[factor], 1);
                sums[n][(alongX ? 0 : i) + width * j] += value / (2 * nz * (alongX ? nx : 1));
                largest[n] = Math.max(largest[n], Math.abs(value));
              });
            }
      }
      const { columns, samples, extents } = await simulation.statistics!.read();
      assert.equal(samples, 2);
      assert.deepEqual(extents, alongX ? [ny] : [nx, ny]);
      STATISTICS.forEach(({ name: column }, n) => {
        const found = columns.get(column)!;
        const worst = Math.max(...sums[n].map((sum, at) => Math.abs(sum - found[at])));
        assert.ok(worst <= 1e-11 * largest[n], `${column} is off by ${worst} of ${largest[n]}`);
        if (alongX) assert.ok(largest[n] > 0, `${column} is 0 everywhere`);
      });
      simulation.free();
    });
});
