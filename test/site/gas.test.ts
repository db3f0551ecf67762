import assert from "node:assert/strict";
import test from "node:test";
import { devices } from "isoform/set";
import { riemann } from "../../apps/navier-stokes/starts/riemann.js";
import { Simulation, type Flow } from "../../apps/navier-stokes/simulation/simulation.js";
import { shearFlow } from "../../site/src/shear-layer.js";
import { bubbleFlow, DIAPHRAGM } from "../../site/src/shock-tube.js";

const [NX, NY] = [256, 128];
const set = await devices("wasm");

/** Conserved values after so many steps in f32, as the gallery computes, and the time. */
async function after(flow: Flow, steps: number): Promise<{ w: ArrayLike<number>; time: number }> {
  const simulation = await Simulation.create(set, flow, { type: "f32" });
  try {
    await simulation.run(steps);
    return { w: await simulation.fields.w.download(), time: await simulation.time.get() };
  } finally {
    simulation.free();
  }
}

test("before the shock tube's shock reaches the bubble, the gas away from it is that of Riemann's problem", async () => {
  const flow = bubbleFlow(NX, NY);
  const { w, time } = await after(flow, 80);
  const exact = riemann(DIAPHRAGM.behind, DIAPHRAGM.before, flow.gas.gamma);
  // The first row, which a wave from the bubble does not reach before the shock does.
  const places = Array.from({ length: NX }, (_, i) => (2 * i) / (NX - 1));
  const rho = places.map((_, i) => w[5 * i]);
  const wanted = places.map((x) => exact((x - DIAPHRAGM.x) / time).rho);
  const shockIn = (values: readonly number[]): number => places[values.findLastIndex((value) => value > 1.1)];
  assert.ok(time > 0.08 && shockIn(wanted) > DIAPHRAGM.x + 0.15, `the shock is at ${shockIn(wanted)} after ${time}`);
  assert.ok(Math.abs(shockIn(rho) - shockIn(wanted)) < 0.02, `the shock is at ${shockIn(rho)}, not ${shockIn(wanted)}`);
  const error = rho.reduce((sum, value, i) => sum + Math.abs(value - wanted[i]), 0) / NX;
  assert.ok(error < 0.015, `the mean error of the density is ${error}`);
});

test("waves between the streams of the shear layer grow until they have mixed the gases, and no gas is lost", async () => {
  const flow = shearFlow(NX, NY);
  const seen = [];
  for (const steps of [0, 300, 900]) {
    const { w } = await after(flow, steps);
    let [up, mass, mixed] = [0, 0, 0];
    for (let cell = 0; cell < NX * NY; cell++) {
      const [rho, , v] = [w[5 * cell], w[5 * cell + 1], w[5 * cell + 2]];
      up += (v * v) / rho / 2 / NX / NY;
      mass += rho / NX / NY;
      mixed += rho > 1.25 && rho < 1.75 ? 1 / NX / NY : 0;
    }
    seen.push({ up, mass, mixed });
  }
  const [first, second, third] = seen;
  assert.ok(second.up > 10 * first.up && third.up > 40 * first.up);
  assert.ok(third.mixed > 4 * first.mixed);
  for (const { mass } of seen) assert.ok(Math.abs(mass - 1.5) < 1e-4, `the mean density is ${mass}`);
});
