import { cellsOf, placeOf, uniform, type Axis } from "../equations/axes.js";
import { schemeOf } from "./channel.js";
import type { Config } from "../config/config-keys.js";
import { extrapolation } from "../boundaries/extrapolation.js";
import { energyAt, gasOf, velocityOf, withViscosity, type Gas } from "../equations/gas.js";
import { onceAPoint } from "../starts/once-a-point.js";
import { sod, shuOsher, type Tube } from "../starts/tube.js";
import type { Flow } from "../simulation/simulation.js";
import { isentropicVortex, taylorGreen, type PointState as Point } from "../starts/vortices.js";

/*
 * Flows without walls: in periodic boxes, and along tubes between open ends.
 */

/** Ghosts that all schemes can do with. */
const GHOSTS = 4;

/** Density, velocity and pressure at a place, for a gas of reference whose velocity is `u0`. */
type Start = (x: number, y: number, z: number, u0: number) => Point;

/** Start of a configuration. */
const startOf = ({ flow }: Config): Start => (flow === "taylor-green" ? taylorGreen : (x, y) => isentropicVortex(x, y));

/** A flow in a box that is periodic along all axes; `start` is one of your own. */
export function boxFlow(config: Config, start: Start = startOf(config)): Flow {
  const { nx, ny, nz, lx, ly, lz } = config;
  const along = (cells: number, length: number): Axis => uniform(cells, length, GHOSTS, { periodic: true });
  return flowOf(config, [along(nx, lx), along(ny, ly), along(nz, lz)], start);
}

export const tubeOf = ({ flow }: Pick<Config, "flow">): Tube => (flow === "shu-osher" ? shuOsher : sod);

/** A flow along x between open ends, periodic across; `start` is one of your own. */
export function tubeFlow(config: Config, start: Start = startOfTube(config)): Flow {
  const { nx, ny, nz, lx, ly, lz } = config;
  const across = (cells: number, length: number): Axis => uniform(cells, length, GHOSTS, { periodic: true });
  const axes: Flow["axes"] = [uniform(nx, lx, GHOSTS, { from: tubeOf(config).from }), across(ny, ly), across(nz, lz)];
  return { ...flowOf(config, axes, start), boundary: (model, side) => [extrapolation(model, side)] };
}

function startOfTube(config: Config): Start {
  const tube = tubeOf(config);
  return (x) => {
    const { rho, u, p } = tube.start(x);
    return { rho, velocity: [u, 0, 0], p };
  };
}

function flowOf(config: Config, axes: Flow["axes"], start: Start): Flow {
  const { mach, re, cfl, dt, dtEvery, prandtl, tRef, viscosity } = config;
  const plain = gasOf({ gas: config.gas, viscosity, prandtl, referenceTemperature: tRef }, 0);
  const u0 = velocityOf(plain, mach);
  const gas = re === undefined ? plain : withViscosity(plain, u0 / re);
  return {
    axes,
    gas,
    scheme: schemeOf(config),
    reference: { speed: u0, length: 1 },
    step: dt === undefined ? { courant: cfl, every: dtEvery } : { dt },
    initial: onceAPoint((x, y, z) => conserved(gas, start(x, y, z, u0))),
  };
}

function conserved(gas: Gas, { rho, velocity, p }: Point): readonly number[] {
  const square = velocity.reduce((sum, u) => sum + u ** 2, 0);
  return [rho, ...velocity.map((u) => rho * u), rho * (energyAt(gas, p / rho) + 0.5 * square)];
}

/** Places of the cells along x. */
export const placesOf = ({ axes: [x] }: Flow): Float64Array => Float64Array.from({ length: cellsOf(x) }, (_, n) => placeOf(x, n));
