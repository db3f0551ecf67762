import assert from "node:assert/strict";
import { after, test } from "node:test";
import { devices } from "isoform/set";
import { FLUID, MOVING_WALL, OUTLET, WALL } from "../../../apps/lbm/kinds.js";
import { D2Q9 } from "../../../apps/lbm/lattice.js";
import { runToSteadyState } from "../../../apps/lbm/run.js";
import { profile, Simulation, WALLS, type Flow } from "../../../apps/lbm/simulation.js";

const set = await devices("wasm*2");
after(() => set.close());

const HEIGHT = 20;
const LENGTH = 48;
const SPEED = 0.04;
/** Between walls half a cell outside of the first and the last cell. */
const parabola = (y: number): number => (4 * SPEED * (y + 0.5) * (HEIGHT - 0.5 - y)) / HEIGHT ** 2;

/** A developed flow is pushed in at the left. */
const channel: Flow = {
  lattice: D2Q9,
  extents: [LENGTH, HEIGHT],
  kind: (x) => (x === 0 ? MOVING_WALL : x === LENGTH - 1 ? OUTLET : FLUID),
  velocity: (x, y) => [parabola(y), 0],
  viscosity: 0.05,
};

test("the flow between two walls has Poiseuille's profile and pressure", async () => {
  const simulation = await Simulation.create(set, channel);
  await runToSteadyState(simulation, { interval: 250, tolerance: 1e-7, steps: 8000 });
  const middle = LENGTH / 2;
  const u = await profile(simulation.velocity, [middle, 0], 1, HEIGHT, 0);
  const v = await profile(simulation.velocity, [middle, 0], 1, HEIGHT, 1);
  // What comes in has the density of the inlet, which the pressure there makes differ from 1.
  const flow = u.reduce((sum, value) => sum + value, 0) / u.reduce((sum, _, y) => sum + parabola(y), 0);
  assert.ok(Math.abs(flow - 1) < 0.01, `flow ${flow}`);
  for (let y = 0; y < HEIGHT; y++) {
    assert.ok(Math.abs(u[y] - flow * parabola(y)) < 0.001 * SPEED, `u at ${y}: ${u[y] / SPEED}, not ${(flow * parabola(y)) / SPEED}`);
    assert.ok(Math.abs(v[y]) < 1e-3 * SPEED, `v at ${y}: ${v[y] / SPEED}`);
  }
  const density = await profile(simulation.density, [middle - 5, HEIGHT / 2], 0, 11, 0);
  const gradient = (density[10] - density[0]) / 10 / 3;
  const expected = (-8 * channel.viscosity * SPEED * flow) / HEIGHT ** 2;
  assert.ok(Math.abs(gradient / expected - 1) < 0.02, `pressure gradient ${gradient}, not ${expected}`);
  simulation.free();
});

/** Walls 0.2 cells below the first row of fluid, and 0.9 above the last. */
const [BELOW, ABOVE] = [0.2, 0.9];
const BREADTH = BELOW + (HEIGHT - 3) + ABOVE;
const between = (y: number): number => (4 * SPEED * (y - 1 + BELOW) * (HEIGHT - 2 + ABOVE - y)) / BREADTH ** 2;
const shifted: Flow = {
  ...channel,
  kind: (x, y) => (y === 0 || y === HEIGHT - 1 ? WALL : channel.kind(x, y, 0)),
  velocity: (_, y) => [Math.max(between(y), 0), 0],
  wallAt: (_, [, up]) => (up > 0 ? ABOVE : BELOW),
};

test("interpolated walls stand where the flow has them", async () => {
  const errors: number[] = [];
  for (const wall of WALLS) {
    const simulation = await Simulation.create(set, shifted, { wall });
    await runToSteadyState(simulation, { interval: 250, tolerance: 1e-7, steps: 8000 });
    const u = await profile(simulation.velocity, [LENGTH / 2, 1], 1, HEIGHT - 2, 0);
    const expected = u.map((_, n) => between(n + 1));
    const flow = u.reduce((sum, value) => sum + value, 0) / expected.reduce((sum, value) => sum + value, 0);
    errors.push(Math.max(...u.map((value, n) => Math.abs(value / flow - expected[n]))) / SPEED);
    simulation.free();
  }
  const [halfway, interpolated] = errors;
  assert.ok(interpolated < 0.008 && halfway > 0.05, `largest deviations ${halfway} half-way, ${interpolated} interpolated`);
});
