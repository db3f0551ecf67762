import assert from "node:assert/strict";
import { test } from "node:test";
import { innerPoints } from "../../../apps/navier-stokes/equations/axes.js";
import { channelFlow } from "../../../apps/navier-stokes/cases/channel.js";
import { channelFigure } from "../../../apps/navier-stokes/results/channel-figure.js";
import { channelProfiles } from "../../../apps/navier-stokes/results/channel-statistics.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import { heatAt, viscosityAt } from "../../../apps/navier-stokes/equations/gas.js";
import { MOSER_180 } from "../../../apps/navier-stokes/results/friction.js";
import { layerFlow } from "../../../apps/navier-stokes/cases/layer-flow.js";
import type { Means } from "../../../apps/navier-stokes/measures/statistics.js";
import { STATISTICS, type MeanFactor } from "../../../apps/navier-stokes/measures/statistics-names.js";
import { channelWall, foldHalves, layerWalls, wallText } from "../../../apps/navier-stokes/results/walls.js";

const near = (value: number, expected: number, tolerance = 1e-12) =>
  assert.ok(Math.abs(value - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${value} is not ${expected}`);

/** Means of 4 equal shares of time, in which factors are what they are here; those left out are 0. */
const meansOf = (extents: readonly number[], at: (place: number, share: number) => Partial<Record<MeanFactor, number>>): Means => {
  const places = extents.reduce((product, n) => product * n, 1);
  const shares = Array.from({ length: places }, (_, n) => [0, 1, 2, 3].map((share) => at(n, share)));
  const mean = (n: number, of: readonly MeanFactor[]): number =>
    shares[n].reduce((sum, values) => sum + of.reduce((product, factor) => product * (values[factor] ?? 0), 1) / 4, 0);
  const columns = STATISTICS.map(({ name, of }) => [name, Float64Array.from({ length: places }, (_, n) => mean(n, of))] as const);
  return { axes: extents.length === 1 ? ["y"] : ["x", "y"], extents, samples: 4, columns: new Map(columns) };
};

test("halves are folded by the distance from the wall", () => {
  assert.deepEqual([...foldHalves([1, 2, 4, 7])], [4, 3]);
  assert.deepEqual([...foldHalves([1, 2, 4, 7], -1)], [-3, -1]);
});

test("a channel of known means has its friction, heat flux, fluctuations and stresses", () => {
  const flow = channelFlow(configOf("channel", { nx: 8, ny: 16, nz: 8 }));
  const { gas, axes } = flow;
  const y = innerPoints(axes[1]);
  const mu = viscosityAt(gas, 1);
  const [slope, heating, rho] = [0.5, 0.2, 2];
  // Four states of equal weight: u'' = +-a, v'' = +-b and their mean product -0.6 ab below, 0.6 ab above.
  const [a, b] = [0.02, 0.01];
  const means = meansOf([16], (j, share) => {
    const [h, side] = [1 - Math.abs(y[j]), y[j] < 0 ? 1 : -1];
    const u = slope * h + a * [1, -1, 1, -1][share];
    const v = side * b * [-1, 0.2, -1, 1.8][share];
    return { rho, u, v, w: 0, p: rho, T: 1 + heating * h, tau_xy: side * mu * slope };
  });
  const { friction, heatParameter, profile } = channelWall(flow, means);
  near(friction.stress, mu * slope);
  near(friction.velocity, Math.sqrt((mu * slope) / rho));
  near(friction.reTau, (friction.velocity * rho) / mu);
  near(friction.heatFlux, (mu * heatAt(gas, 1) * heating) / gas.prandtl);
  near(heatParameter, -friction.heatFlux / (rho * heatAt(gas, 1) * friction.velocity));
  assert.equal(profile.u.length, 8);
  const table = channelProfiles(flow, means);
  const tau = mu * slope;
  for (let j = 0; j < 8; j++) {
    const at = (name: string): number => table.get(name)![j];
    near(at("y"), 1 + y[j]);
    near(at("y_plus"), (1 + y[j]) * friction.reTau);
    near(at("u_plus"), at("y_plus"), 1e-11);
    near(at("u_rms"), a * Math.sqrt(rho / tau), 1e-9);
    near(at("w_rms"), 0);
    // Of v = b (-1, 0.2, -1, 1.8): mean 0, mean square 1.32 b^2, mean product with +-a: -ab.
    near(at("v_rms"), b * Math.sqrt((1.32 * rho) / tau), 1e-9);
    near(at("reynolds"), (rho * a * b) / tau, 1e-9);
    near(at("viscous"), 1);
    near(at("stress"), 1 + (rho * a * b) / tau, 1e-9);
    near(at("rho_by_wall"), 1);
    near(at("T_by_wall"), 1 + heating * (1 + y[j]));
  }
  assert.match(wallText(flow, means), /walls in the mean of 4 samples: Re_tau [\d.]+, u_tau [\d.]+, cf [\d.]+, heat flux into them [\d.]+/);
});

test("a layer of known means has its friction and thicknesses in each column", () => {
  const flow = layerFlow(configOf("layer", { nx: 8, ny: 64, nz: 8, inflow: "laminar", nWall: 40 }));
  const { gas, axes, reference, wall } = flow;
  const y = innerPoints(axes[1]);
  // Linear up to a height that grows from column to column.
  const height = (i: number): number => 1 + i / 10;
  const means = meansOf([8, 64], (n) => {
    const h = y[Math.floor(n / 8)];
    return { rho: 1, u: reference.speed * Math.min(1, h / height(n % 8)), p: 1, T: wall!.temperature };
  });
  const table = layerWalls(flow, means);
  for (let i = 0; i < 8; i++) {
    const at = (name: string): number => table.get(name)![i];
    near(at("x"), innerPoints(axes[0])[i]);
    near(at("tau_w"), (viscosityAt(gas, wall!.temperature) * reference.speed) / height(i), 1e-10);
    near(at("cf"), at("tau_w") / (0.5 * reference.speed ** 2));
    // Those of a linear profile, but for the cell in which it ends.
    near(at("delta99"), 0.99 * height(i), 0.02);
    near(at("displacement"), height(i) / 2, 0.01);
    near(at("theta"), height(i) / 6, 0.01);
    near(at("B_q"), 0);
  }
  assert.match(wallText(flow, means), /the wall in the mean of 4 samples:\n  x [\d.]+: cf/);
});

test("the figure of a channel near Re_tau 180 has the law of the wall and the reference's points, others have the law alone", () => {
  const config = { nx: 8, ny: 16, nz: 8 };
  const figureAt = (reTau: number): string => {
    const flow = channelFlow(configOf("channel", config));
    const mu = viscosityAt(flow.gas, 1);
    const y = innerPoints(flow.axes[1]);
    // Of density 1: u_tau = Re_tau mu.
    const means = meansOf([16], (j) => ({ rho: 1, u: ((reTau * mu) ** 2 * (1 - Math.abs(y[j]))) / mu, p: 1, T: 1 }));
    return channelFigure(flow, means);
  };
  const near180 = figureAt(178);
  assert.match(near180, /Re_tau 178\.0/);
  // One stands in the legend.
  assert.equal(near180.match(/<circle/g)!.length, MOSER_180.length + 1);
  for (const words of ["law of the wall", "y+ = y u_tau / nu_w", "U+ = U / u_tau", "1 - y/h: steady"])
    assert.ok(near180.includes(words), words);
  assert.doesNotMatch(near180, /van Driest|NaN/);
  assert.doesNotMatch(figureAt(400), /Moser/);
});
