import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { devices } from "isoform/set";
import { cellsOf, uniform } from "../../../apps/navier-stokes/equations/axes.js";
import { gasOf, velocityOf } from "../../../apps/navier-stokes/equations/gas.js";
import type { Scheme } from "../../../apps/navier-stokes/equations/model.js";
import { FIRST_DERIVATIVE } from "../../../apps/navier-stokes/equations/schemes.js";
import { Simulation, type Flow } from "../../../apps/navier-stokes/simulation/simulation.js";
import { energy, kineticEnergy, SCHEMES } from "./flows.js";

/* What the equations in space do with kinetic energy and entropy: rates of change, by steps in time that are small, forwards and backwards. */

const set = await devices("wasm");
const gas = gasOf({ viscosity: "constant" }, 0);
const CELLS = 12;

/** Waves of density, temperature and velocity in a box of edge 2 pi, all of them strong. */
function waves(scheme: Scheme): Flow {
  const along = uniform(CELLS, 2 * Math.PI, 4, { periodic: true });
  return {
    axes: [along, along, along],
    gas,
    scheme,
    reference: { speed: velocityOf(gas, 0.5), length: 1 },
    step: { dt: 1e-3 },
    initial(x, y, z, k) {
      const rho = 1 + 0.4 * Math.sin(x + y + 2 * z);
      const T = 1 + 0.3 * Math.cos(2 * x - y + z + 0.5);
      const [u, v, w] = [0.5 * Math.cos(x + y + 2 * z + 0.3), 0.3 * Math.sin(2 * x - y + z), 0.4 * Math.sin(y - 2 * z + 1)];
      return [rho, rho * u, rho * v, rho * w, energy(rho, T, u, v, w)][k];
    },
  };
}

/** Mean of the entropy by volume. */
function entropy(w: ArrayLike<number>): number {
  let sum = 0;
  for (let n = 0; n < w.length; n += 5) {
    const inner = w[n + 4] - (0.5 * (w[n + 1] ** 2 + w[n + 2] ** 2 + w[n + 3] ** 2)) / w[n];
    sum += w[n] * Math.log(((gas.gamma - 1) * inner) / w[n] ** gas.gamma);
  }
  return (5 * sum) / w.length;
}

/** The mean of -u grad p by volume, by the central differences of order 6. */
function work(w: ArrayLike<number>, { axes: [along] }: Flow): number {
  const n = cellsOf(along);
  const dx = (2 * Math.PI) / n;
  const at = (i: number, j: number, k: number): number => 5 * (((i + n) % n) + n * (((j + n) % n) + n * ((k + n) % n)));
  const pressure = (c: number): number => (gas.gamma - 1) * (w[c + 4] - (0.5 * (w[c + 1] ** 2 + w[c + 2] ** 2 + w[c + 3] ** 2)) / w[c]);
  let sum = 0;
  for (let k = 0; k < n; k++)
    for (let j = 0; j < n; j++)
      for (let i = 0; i < n; i++) {
        const c = at(i, j, k);
        for (const [axis, [a, b, d]] of [
          [1, 0, 0],
          [0, 1, 0],
          [0, 0, 1],
        ].entries())
          for (const [l, weight] of FIRST_DERIVATIVE[6].entries()) {
            const m = l + 1;
            const slope = (weight * (pressure(at(i + m * a, j + m * b, k + m * d)) - pressure(at(i - m * a, j - m * b, k - m * d)))) / dx;
            sum -= (w[c + 1 + axis] / w[c]) * slope;
          }
      }
  return sum / n ** 3;
}

/** d/dt of a mean at the start. */
async function rateOf(scheme: Scheme, mean: (w: ArrayLike<number>) => number): Promise<number> {
  const simulation = await Simulation.create(set, waves(scheme));
  const after = async (dt: number): Promise<number> => {
    await simulation.restart();
    simulation.dt.set(dt);
    await simulation.run(1);
    return mean(await simulation.fields.w.download());
  };
  const central = async (dt: number): Promise<number> => ((await after(dt)) - (await after(-dt))) / (2 * dt);
  const [wide, narrow] = [await central(2e-3), await central(1e-3)];
  simulation.free();
  return (4 * narrow - wide) / 3;
}

describe("fluxes that keep kinetic energy and entropy", () => {
  it("change kinetic energy by the work of pressure only", async () => {
    const simulation = await Simulation.create(set, waves(SCHEMES.KEP6));
    const expected = work(await simulation.fields.w.download(), simulation.flow);
    simulation.free();
    assert.ok(Math.abs(expected) > 1e-2, `there is work: ${expected}`);
    for (const splitting of [-1, 0]) {
      const found = await rateOf({ ...SCHEMES.c6, splitting }, kineticEnergy);
      assert.ok(Math.abs(found / expected - 1) < 1e-9, `splitting ${splitting}: ${found}, not ${expected}`);
    }
    const weno = await rateOf(SCHEMES.WENO5, kineticEnergy);
    assert.ok(weno < 1.2 * expected, `WENO dissipates: ${weno} in place of ${expected}`);
  });

  it("change entropy the less the more terms KEEP(n) takes", async () => {
    const rates: number[] = [];
    for (const splitting of [-1, 0, 1, 2]) rates.push(Math.abs(await rateOf({ ...SCHEMES.c6, splitting }, entropy)));
    rates.slice(1).forEach((rate, n) => assert.ok(rate < 0.3 * rates[n], `from KEP and KEEP on: ${rates}`));
    const weno = await rateOf(SCHEMES.WENO5, entropy);
    assert.ok(weno > 100 * rates[0], `WENO makes entropy: ${weno}`);
  });
});
