import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { devices, type DeviceSet } from "isoform/set";
import { vorticity } from "../../../apps/lbm/run.js";
import { Simulation, type Settings } from "../../../apps/lbm/simulation.js";
import { vortex, watchDecay } from "../../../apps/lbm/vortex.js";

const device = await open("wasm");
const one = await devices([device]);
const three = await devices([device, device, device]);
after(() => device.close());

/** Speeds that fall as cells grow in number keep the viscosity: errors then fall with the square of the size. */
async function decayOf(set: DeviceSet, size: number, settings: Partial<Settings>) {
  const simulation = await Simulation.create(set, vortex({ reynolds: 20, size, speed: 0.64 / size }), settings);
  const { rate, expected, deviation } = await watchDecay(simulation);
  simulation.free();
  return { error: Math.abs(rate / expected - 1), deviation };
}

for (const [title, set, settings] of [
  ["on one device", one, {}],
  ["on three members", three, {}],
  ["with one population", one, { pattern: "aa" }],
  ["on a sparse grid of three members", three, { grid: "sparse" }],
] as const)
  test(`vortices in a box without ends decay at 2 nu k^2, to second order: ${title}`, async () => {
    const [coarse, fine] = [await decayOf(set, 16, settings), await decayOf(set, 32, settings)];
    assert.ok(coarse.error < 0.01 && fine.error < 0.0025, `rates are off by ${coarse.error} and ${fine.error}`);
    assert.ok(coarse.error / fine.error > 3, "four times less for twice as many cells");
    assert.ok(fine.deviation < 0.0045, `${fine.deviation}`);
    assert.ok(coarse.deviation / fine.deviation > 3.8, `second order of the velocity, too: ${coarse.deviation} and ${fine.deviation}`);
  });

test("boxes of too few cells are refused", () => {
  assert.throws(() => vortex({ reynolds: 20, size: 3 }), /a box of 3 cells is too small for vortices: it needs at least 4/);
});

test("the vorticity in a picture is that of the flow", async () => {
  const [size, speed] = [64, 0.01];
  const simulation = await Simulation.create(one, vortex({ reynolds: 20, size, speed }));
  const { values, width } = await vorticity(simulation, 1 / speed);
  // A central difference of sin(k x) is sin(k) cos(k x).
  const k = (2 * Math.PI) / size;
  for (const [x, y] of [
    [1, 1],
    [20, 33],
    [40, 50],
  ])
    assert.ok(Math.abs(values[y * width + x] - 2 * Math.sin(k) * Math.cos(k * x) * Math.cos(k * y)) < 1e-12, `${x}, ${y}`);
  assert.ok(Number.isNaN(values[0]));
  simulation.free();
});
