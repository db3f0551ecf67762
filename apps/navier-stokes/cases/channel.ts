import { channelAxis, uniform } from "../equations/axes.js";
import { wall } from "../boundaries/wall.js";
import { channelOf } from "../starts/channel-profile.js";
import { startOf } from "./channel-start.js";
import { withViscosity } from "../equations/gas.js";
import type { Config } from "../config/config-keys.js";
import type { Scheme } from "../equations/model.js";
import type { Flow } from "../simulation/simulation.js";

/** The scheme of a configuration. */
export const schemeOf = ({ order, keep, viscous, weno, wenoZ, splitting, sensorThreshold }: Config): Scheme => ({
  order,
  splitting: keep,
  viscous,
  weno: { halfWidth: (weno + 1) / 2, weights: wenoZ ? "z" : "js", splitting, threshold: sensorThreshold },
});

/** Ghosts that all schemes can do with. */
const GHOSTS = 4;

/** The flow between two walls at rest, y = -1 and 1, of temperature 1. */
export function channelFlow(config: Config): Flow {
  const { nx, ny, nz, lx, lz, dyPlus, reTau, jb, smoothing, mach, thetaWall, cfl, dt, dtEvery, gas, viscosity, prandtl, tRef } = config;
  const across = channelAxis(ny, GHOSTS, { dyPlus, reTau, jb, smoothing });
  const channel = channelOf({ mach, reTau, thetaWall, gas, viscosity, prandtl, referenceTemperature: tRef }, across);
  // A given Reynolds number is the bulk's; the grid still follows re_tau.
  const own = config.re === undefined ? channel.gas : withViscosity(channel.gas, channel.u0 / config.re);
  const axes = [uniform(nx, lx, GHOSTS, { periodic: true }), across, uniform(nz, lz, GHOSTS, { periodic: true })] as const;
  return {
    axes,
    gas: own,
    scheme: schemeOf(config),
    reference: { speed: channel.u0, length: 1 },
    step: dt === undefined ? { courant: cfl, every: dtEvery } : { dt },
    ...startOf(channel, axes, lz, config.random),
    boundary: (model, side) => [wall(model, side, 1)],
    channel: { targetTemperature: channel.targetTemperature },
    wall: { temperature: 1 },
  };
}
