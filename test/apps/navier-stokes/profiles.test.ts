import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsOf, channelAxis, innerPoints, layerAxis, placeOf, uniform, type Axis } from "../../../apps/navier-stokes/equations/axes.js";
import { blasius, laminarLayer } from "../../../apps/navier-stokes/starts/blasius.js";
import { channelOf } from "../../../apps/navier-stokes/starts/channel-profile.js";
import { startOf } from "../../../apps/navier-stokes/cases/channel-start.js";
import {
  gasOf,
  heatAt,
  temperatureAt,
  velocityOf,
  viscosityAt,
  withViscosity,
  type Gas,
} from "../../../apps/navier-stokes/equations/gas.js";
import { conserved, layerMeans, layerStart, viscousLength } from "../../../apps/navier-stokes/starts/layer-means.js";
import { layerGas, layerProfile } from "../../../apps/navier-stokes/starts/layer-profile.js";
import { firstDerivative } from "./first-derivative.js";
import { GOLDEN } from "./golden.js";

/* Flows at the start, held against the first time step that the original solver took. */

const near = (value: number, expected: number, tolerance: number) =>
  assert.ok(Math.abs(value - expected) <= tolerance * Math.abs(expected), `${value} is not ${expected}`);

const golden = (name: string): number[] =>
  GOLDEN.find((each) => each.name === name)!
    .lines[0].trim()
    .split(/\s+/)
    .map(Number);

/** CFL number over the greatest of |u| + c and the two diffusivities, each by the distance of cells. */
function timeStep(axes: readonly Axis[], gas: Gas, cfl: number, start: (i: number, j: number, k: number) => readonly number[]): number {
  const metric = axes.map(({ points, ghosts }) => firstDerivative(points, ghosts, points.length - 2 * ghosts, 6));
  let most = 0;
  metric[2].forEach((dz, k) =>
    metric[1].forEach((dy, j) =>
      metric[0].forEach((dx, i) => {
        const [rho, ...momentum] = start(i, j, k);
        const [u, v, w] = momentum.map((value) => value / rho);
        const T = temperatureAt(gas, momentum[3] / rho - 0.5 * (u ** 2 + v ** 2 + w ** 2));
        const cp = heatAt(gas, T);
        const sound = Math.sqrt((cp / (cp - 1)) * T);
        const nu = viscosityAt(gas, T) / rho;
        for (const [n, distance] of [dx, dy, dz].entries())
          most = Math.max(most, (Math.abs([u, v, w][n]) + sound) / distance, nu / gas.prandtl / distance ** 2, nu / distance ** 2);
      }),
    ),
  );
  return cfl / most;
}

const across = { jb: 32, smoothing: 50 };

/** Weight of each cell in means across the channel: its height over the channel's. */
function channelWeights(axis: Axis): Float64Array {
  const faces = axis.faces!;
  const cells = cellsOf(axis);
  return innerPoints(axis).map((_, j) => (faces[j + 1] - faces[j]) / (faces[cells] - faces[0]));
}

for (const { name, cells, lengths, dyPlus, reTau, mach, thetaWall, cfl, ...options } of [
  { name: "A", cells: [32, 36, 32], lengths: [12, 6], dyPlus: 0.7, reTau: 180, mach: 0.2, thetaWall: -2.5, cfl: 0.8 },
  {
    name: "A thermally perfect",
    cells: [32, 36, 32],
    lengths: [12, 6],
    dyPlus: 0.7,
    reTau: 180,
    mach: 0.2,
    thetaWall: -2.5,
    cfl: 0.8,
    gas: "thermal",
  },
  { name: "B central", cells: [32, 48, 32], lengths: [6, 3], dyPlus: 0.8, reTau: 490, mach: 2, thetaWall: 0.35, cfl: 0.7 },
  {
    name: "B WENO5 thermally perfect",
    cells: [32, 48, 32],
    lengths: [6, 3],
    dyPlus: 0.8,
    reTau: 490,
    mach: 2,
    thetaWall: 0.35,
    cfl: 0.7,
    gas: "thermal",
  },
  { name: "B theta -1.5 (no target)", cells: [32, 48, 32], lengths: [6, 3], dyPlus: 0.8, reTau: 490, mach: 2, thetaWall: -1.5, cfl: 0.7 },
] as const)
  test(`a channel starts as the original's does: ${name}`, () => {
    const axes = [
      uniform(cells[0], lengths[0], 4, { periodic: true }),
      channelAxis(cells[1], 4, { dyPlus, reTau, ...across }),
      uniform(cells[2], lengths[1], 4, { periodic: true }),
    ] as const;
    const channel = channelOf({ mach, reTau, thetaWall, ...options }, axes[1]);
    const { initial } = startOf(channel, axes, lengths[1], false);
    const start = (y: number, z: number): readonly number[] => [0, 1, 2, 3, 4].map((k) => initial(0, y, z, k));
    const dt = timeStep(axes, channel.gas, cfl, (_, j, k) => start(placeOf(axes[1], j), placeOf(axes[2], k)));
    const line = golden(name);
    near(dt, line[1], 1e-9);
    const weights = channelWeights(axes[1]);
    const bulk = innerPoints(axes[1]).reduce((sum, y, j) => sum + weights[j] * start(y, 0)[1], 0);
    near(bulk, line[6], 1e-9);
    if (channel.targetTemperature !== undefined) near(channel.targetTemperature, line[7], 1e-9);
  });

test("the channel of set A has the published Reynolds number", () => {
  const axis = channelAxis(36, 4, { dyPlus: 0.7, reTau: 180, ...across });
  near(channelOf({ mach: 0.2, reTau: 180, thetaWall: -2.5 }, axis).reynolds, 2842.0710550449, 1e-13);
});

test("a turbulent layer grows and starts as the original's does", () => {
  const [x, y] = [uniform(128, 20, 3), layerAxis(64, 12, 3, { cells: 40, length: 2.5 }, { dyPlus: 0.8, reTau: 200, ...across })];
  const z = uniform(16, 3, 3, { periodic: true });
  const gas = gasOf({}, 1);
  const u0 = velocityOf(gas, 2);
  const means = layerMeans(layerGas(gas, 2, 1), 200, x, y, u0);
  near(means.reynolds, 9263.50917197, 1e-11);
  near(means.profile(0).cf, 3.7121604334e-3, 1e-10);
  near(means.profile(131).delta, 1.4060113751, 1e-10);
  const plane = innerPoints(x).findLastIndex((place) => place < 15);
  near(viscousLength(means.profile(plane)) / viscousLength(means.profile(0)), 1.04698871259, 1e-11);
  const start = layerStart(means, gas, y, u0, 3);
  const viscous = withViscosity(gas, u0 / means.reynolds);
  near(
    timeStep([x, y, z], viscous, 0.7, (i, j, k) => start(i, j, placeOf(z, k))),
    golden("C")[1],
    1e-9,
  );
});

test("a layer of too low a Reynolds number is refused", () => {
  assert.throws(
    () => layerProfile(layerGas(gasOf({}, 1), 0.5, 1), 1, { reTau: 200 }),
    /re_tau 200\.0 has an Re_theta of .* greater re_tau/,
  );
});

test("a laminar layer starts as the original's does", () => {
  const [x, y] = [uniform(64, 20, 3), layerAxis(64, 12, 3, { cells: 40, length: 2.5 }, { dyPlus: 0.8, reTau: 1000, ...across })];
  const z = uniform(8, 3, 3, { periodic: true });
  const u0 = 2 * Math.sqrt(1.4);
  const gas = gasOf({}, u0 / 1000);
  const { wallTemperature } = layerGas(gas, 2, 1);
  const solution = blasius({ mach: 2, temperature: 220, wallTemperature, prandtl: 0.72, gamma: 1.4 });
  const layer = laminarLayer(solution, 1000, u0);
  near(layer.origin, 23.81497, 1e-6);
  const start = (i: number, j: number) => {
    const { rho, u, v } = layer.at(placeOf(x, i), placeOf(y, j));
    return conserved(gas, rho, u, v, 0);
  };
  near(timeStep([x, y, z], gas, 0.4, start), golden("D")[1], 1e-8);
});

test("without changes of temperature a laminar layer is that of Blasius", () => {
  const slow = blasius({ mach: 0.01, temperature: 220, wallTemperature: 1, prandtl: 1, gamma: 1.4 });
  near(slow.slope, 0.33206, 1e-4);
  // Cooled by u0^2/(2 cp) at the wall: its temperature is that of the free stream.
  assert.ok(slow.temperature.every((T) => Math.abs(T - 1) < 1e-4));
});
