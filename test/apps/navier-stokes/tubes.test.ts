import assert from "node:assert/strict";
import { it } from "node:test";
import { devices } from "isoform/set";
import { mirrorGhosts } from "../../../apps/navier-stokes/boundaries/mirror.js";
import { placesOf, tubeFlow } from "../../../apps/navier-stokes/cases/box-flow.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import type { Given } from "../../../apps/navier-stokes/config/config-keys.js";
import { riemann } from "../../../apps/navier-stokes/starts/riemann.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";
import { sod, shuOsher } from "../../../apps/navier-stokes/starts/tube.js";

const set = await devices("wasm");

/** Mean error of the density in Sod's tube at time 0.2. */
async function errorOf(n: number, given: Given): Promise<number> {
  const flow = tubeFlow(configOf("tube", { nx: n, ...given }));
  const simulation = await Simulation.create(set, flow);
  await simulation.run(n);
  const w = await simulation.fields.w.download();
  simulation.free();
  return placesOf(flow).reduce((sum, x, i) => sum + Math.abs(w[5 * i] - sod.exact!(x, 0.2).rho), 0) / n;
}

for (const [name, given, expected] of [
  ["WENO5", {}, [5.81e-3, 3.07e-3, 1.59e-3]],
  ["WENO5 Z", { wenoZ: true }, [4.71e-3, 2.47e-3, 1.28e-3]],
  ["WENO7", { weno: 7, order: 8 }, [4.94e-3, 2.59e-3, 1.33e-3]],
  ["WENO3", { weno: 3, order: 4 }, [8.36e-3, 4.56e-3, 2.45e-3]],
  ["Rusanov", { splitting: "rusanov" }, [6.5e-3, 3.34e-3, 1.72e-3]],
  ["hybrid", { sensorThreshold: 0.01 }, [5.27e-3, 2.83e-3, 1.48e-3]],
] as const)
  it(`Sod's tube has the published errors with ${name}`, async () => {
    for (const [n, error] of expected.entries()) {
      const found = await errorOf(100 * 2 ** n, given);
      assert.ok(Math.abs(found / error - 1) < 0.02, `${100 * 2 ** n} cells: ${found}, not ${error}`);
    }
  });

/** Densities of Shu and Osher's tube at time 1.8, with a step of which sound and flow cross half a cell. */
async function shuOsherAt(n: number, given: Given): Promise<Float64Array> {
  const { time, to, from } = shuOsher;
  const steps = Math.round((time * 10 * (n - 1)) / (to - from));
  const simulation = await Simulation.create(set, tubeFlow(configOf("tube", { flow: "shu-osher", nx: n, dt: time / steps, ...given })));
  await simulation.run(steps);
  const w = await simulation.fields.w.download();
  simulation.free();
  return Float64Array.from({ length: n }, (_, i) => w[5 * i]);
}

it("waves of density behind Shu and Osher's shock are near those of a fine grid", async () => {
  const fine = await shuOsherAt(2001, {});
  const place = -5 + 0.005 * fine.findLastIndex((rho) => rho > 2);
  assert.ok(Math.abs(place - 2.4) < 0.01, `the shock is at ${place}`);
  for (const [name, given, expected] of [
    ["WENO5", {}, [0.674, 0.201]],
    ["WENO5 Z", { wenoZ: true }, [0.505, 0.126]],
    ["WENO7", { weno: 7, order: 8 }, [0.505, 0.107]],
  ] as const)
    for (const [level, error] of expected.entries()) {
      const intervals = 200 * (level + 1);
      const rho = await shuOsherAt(intervals + 1, given);
      const found = rho.reduce((sum, value, i) => sum + Math.abs(value - fine[(2000 / intervals) * i]), 0) * (10 / intervals);
      assert.ok(Math.abs(found / error - 1) < 0.03, `${name}, ${intervals} intervals: ${found}, not ${error}`);
    }
});

it("gas that runs against a wall is stopped by the shock of two streams that meet, and none is lost", async () => {
  const [n, time] = [200, 0.25];
  const config = configOf("tube", { nx: n, dt: time / n });
  const stream = { rho: 1, u: 1, p: 1 };
  const flow = {
    ...tubeFlow(config, () => ({ rho: stream.rho, velocity: [stream.u, 0, 0], p: stream.p })),
    boundary: (...of: Parameters<typeof mirrorGhosts>) => [mirrorGhosts(...of)],
  };
  const simulation = await Simulation.create(set, flow);
  await simulation.run(n);
  const w = await simulation.fields.w.download();
  simulation.free();
  const rho = Float64Array.from({ length: n }, (_, i) => w[5 * i]);
  const exact = riemann(stream, { ...stream, u: -stream.u }, flow.gas.gamma);
  const places = placesOf(flow);
  const wall = places[n - 1] + 0.5 * (places[1] - places[0]);
  // The waves from the other end have not come so far.
  const from = 0.6 * n;
  const misses = rho.slice(from).map((value, i) => Math.abs(value - exact((places[from + i] - wall) / time).rho));
  const error = misses.reduce((sum, miss) => sum + miss) / (n - from);
  assert.ok(error < 0.015, `the mean error of the density is ${error}`);
  const mass = rho.reduce((sum, value) => sum + value) / n;
  assert.ok(Math.abs(mass - stream.rho) < 1e-12, `the mean density is ${mass}`);
});
