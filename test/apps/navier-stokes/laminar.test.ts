import assert from "node:assert/strict";
import { it } from "node:test";
import { face, type Container } from "isoform/grid";
import { devices } from "isoform/set";
import { cellsOf, innerPoints, placeOf } from "../../../apps/navier-stokes/equations/axes.js";
import { blasius, laminarLayer } from "../../../apps/navier-stokes/starts/blasius.js";
import { channelFlow } from "../../../apps/navier-stokes/cases/channel.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import { viscosityAt } from "../../../apps/navier-stokes/equations/gas.js";
import { layerFlow } from "../../../apps/navier-stokes/cases/layer-flow.js";
import { conserved } from "../../../apps/navier-stokes/starts/layer-means.js";
import { layerGas } from "../../../apps/navier-stokes/starts/layer-profile.js";
import type { Model } from "../../../apps/navier-stokes/equations/model.js";
import { Simulation, type Flow } from "../../../apps/navier-stokes/simulation/simulation.js";

/* Flows along walls that have solutions of their own. */

const set = await devices("wasm");

const near = (name: string, value: number, expected: number, tolerance: number) =>
  assert.ok(Math.abs(value / expected - 1) < tolerance, `${name}: ${value}, not ${expected}`);

/** Velocity along x, density and temperature of a row of cells at z = 0; heat capacities are constant. */
function pointAt(w: ArrayLike<number>, { axes, gas }: Flow, i: number, j: number) {
  const at = 5 * (i + cellsOf(axes[0]) * j);
  const [rho, ...rest] = Array.from({ length: 5 }, (_, k) => w[at + k]);
  const [u, v, ww] = rest.map((value) => value / rho);
  return { rho, u, T: (gas.gamma - 1) * (rest[3] / rho - 0.5 * (u ** 2 + v ** 2 + ww ** 2)) };
}

it("a slow channel ends as that of Poiseuille, heated by its friction", async () => {
  const ny = 24;
  const walls = { lx: 2, lz: 2, dyPlus: 0.9, reTau: 10, thetaWall: -2, viscosity: "constant" } as const;
  const flow = channelFlow(configOf("channel", { ...walls, nx: 6, ny, nz: 6, re: 3, mach: 0.1, cfl: 0.4, sensorThreshold: 1.01 }));
  const simulation = await Simulation.create(set, flow);
  await simulation.run(1200);
  const { channel } = await simulation.progress();
  const w = await simulation.fields.w.download();
  simulation.free();
  const centre = 1.5 * channel!.velocity;
  const heating = (flow.gas.prandtl * centre ** 2) / (3 * 3.5);
  innerPoints(flow.axes[1]).forEach((y, j) => {
    const { u, T } = pointAt(w, flow, 0, j);
    const [velocity, warmth] = [centre * (1 - y ** 2), heating * (1 - y ** 4)];
    assert.ok(Math.abs(u - velocity) < 2e-3 * centre, `y ${y}: velocity ${u}, not ${velocity}`);
    assert.ok(Math.abs(T - 1 - warmth) < 0.015 * heating, `y ${y}: warmer by ${T - 1}, not ${warmth}`);
  });
  near("-dp/dx", channel!.pressureGradient * flow.reference.speed ** 2, 3 * flow.gas.viscosity.reference * channel!.velocity, 4e-3);
});

const REYNOLDS = 1000;
const MACH = 0.1;
/** The wall's temperature is that of a laminar wall without heat flux, Pr^(1/2) in place of Pr^(1/3). */
const THETA = 0.72 ** (1 / 6);
const wallCells = { nWall: 40, lWall: 2.5, dyPlus: 5, reTau: 200 };

/** The layer over a plate; beyond the box are the similarity solution's values, which leave the pressure as it is. */
function plate() {
  const box = { nx: 48, ny: 56, nz: 1, lx: 10, ly: 8, lz: 1, ...wallCells };
  const config = configOf("layer", {
    ...box,
    inflow: "laminar",
    re: REYNOLDS,
    mach: MACH,
    thetaWall: THETA,
    cfl: 0.4,
    sensorThreshold: 1.01,
  });
  const flow = layerFlow(config);
  const { wallTemperature } = layerGas(flow.gas, MACH, THETA);
  const solution = blasius({ mach: MACH, temperature: 220, wallTemperature, prandtl: 0.72, gamma: 1.4 });
  const layer = laminarLayer(solution, REYNOLDS, flow.reference.speed);
  const [x, y] = flow.axes;
  const kept = (model: Model, side: "xmax" | "ymax"): Container => {
    const { grid, real, ghosts, fields } = model;
    const [nx, ny] = grid.extents;
    const [dx, dy] = side === "xmax" ? [1, 0] : [0, 1];
    const stream = grid.field(`stream at ${side}`, real, { axes: [side === "xmax" ? "y" : "x"], cardinality: 5 * ghosts });
    const valuesAt = (i: number, j: number): readonly number[] => {
      const { rho, u, v } = layer.at(placeOf(x, i), placeOf(y, j));
      return conserved(flow.gas, rho, u, v, 0);
    };
    const beyond = (n: number) => Array.from({ length: ghosts }, (_, l) => (dx ? valuesAt(nx + l, n) : valuesAt(n, ny + l))).flat();
    stream.set(Array.from({ length: dx ? ny : nx }, (_, n) => beyond(n)).flat());
    return grid.container(
      `stream at ${side}`,
      { w: fields.w, stream },
      ({ w, stream }, c) => {
        for (let l = 1; l <= ghosts; l++) for (let k = 0; k < 5; k++) w.at(c, l * dx, l * dy, 0)[k] = stream[c][5 * (l - 1) + k];
      },
      () => [ghosts, dx, dy],
      { on: face(side) },
    );
  };
  const boundary: Flow["boundary"] = (model, side) =>
    side === "xmax" || side === "ymax" ? [kept(model, side)] : flow.boundary!(model, side);
  return { flow: { ...flow, edges: undefined, boundary }, origin: layer.origin, wallTemperature };
}

it("a slow layer over a plate stays as that of Blasius", async () => {
  const { flow, origin, wallTemperature } = plate();
  const simulation = await Simulation.create(set, flow);
  await simulation.run(2400);
  const w = await simulation.fields.w.download();
  simulation.free();
  const heights = innerPoints(flow.axes[1]);
  const speed = flow.reference.speed;
  for (const i of [24, 36]) {
    const points = Array.from(heights, (_, j) => pointAt(w, flow, i, j));
    const { u: free, rho: thin } = points[points.length - 1];
    // The parabola through the wall and two cells.
    const [a, b] = heights;
    const slope = (points[0].u * b * b - points[1].u * a * a) / (a * b * (b - a));
    const cf = (2 * viscosityAt(flow.gas, wallTemperature) * slope) / speed ** 2;
    let [displacement, momentum, height, before] = [0, 0, 0, [1, 0]];
    points.forEach(({ u, rho }, j) => {
      const flux = (rho * u) / (thin * free);
      const now = [1 - flux, flux * (1 - u / free)];
      displacement += 0.5 * (heights[j] - height) * (now[0] + before[0]);
      momentum += 0.5 * (heights[j] - height) * (now[1] + before[1]);
      [height, before] = [heights[j], now];
    });
    const along = placeOf(flow.axes[0], i) + origin;
    const root = Math.sqrt(REYNOLDS * along);
    near("friction", cf * root, 0.66411, 0.005);
    near("displacement thickness", (displacement / along) * root, 1.7208, 0.01);
    near("momentum thickness", (momentum / along) * root, 0.66411, 0.01);
    near("shape factor", displacement / momentum, 2.591, 0.01);
  }
});

it("the similarity solution has the numbers of Blasius at low Mach numbers", () => {
  const { eta, u, temperature, slope } = blasius({ mach: 0.01, temperature: 220, wallTemperature: 1, prandtl: 0.72, gamma: 1.4 });
  let [displacement, momentum] = [0, 0];
  for (let n = 1; n < eta.length; n++) {
    const width = 0.5 * (eta[n] - eta[n - 1]);
    const [f, g] = [n - 1, n].map((m) => u[m] / temperature[m]);
    displacement += width * (2 - f - g);
    momentum += width * (f * (1 - u[n - 1]) + g * (1 - u[n]));
  }
  near("friction", 2 * slope, 0.66411, 1e-4);
  near("displacement thickness", displacement, 1.7208, 1e-4);
  near("momentum thickness", momentum, 0.66411, 1e-4);
  near("shape factor", displacement / momentum, 2.591, 1e-3);
});
