import type { Side } from "isoform/grid";
import { coordinatesOf, layerAxis, placeOf, shockAxis, uniform, type Axis } from "../equations/axes.js";
import { blasius, laminarLayer } from "../starts/blasius.js";
import { extrapolation } from "../boundaries/extrapolation.js";
import { incidentShock, type IncidentShock } from "../boundaries/incident-shock.js";
import { steadyInflow } from "../boundaries/inflow.js";
import { recycling } from "../boundaries/recycling.js";
import { wall } from "../boundaries/wall.js";
import { schemeOf } from "./channel.js";
import { requireShockInside } from "../config/config-checks.js";
import type { Config } from "../config/config-keys.js";
import { gasOf, velocityOf, withViscosity, type Gas } from "../equations/gas.js";
import { conserved, layerMeans, layerStart, type LayerMeans } from "../starts/layer-means.js";
import { layerGas } from "../starts/layer-profile.js";
import { ghostsOf, type Model } from "../equations/model.js";
import { withNoise } from "../starts/noise.js";
import { onceAPoint } from "../starts/once-a-point.js";
import { behindShock, obliqueShock } from "../starts/oblique-shock.js";
import type { Flow } from "../simulation/simulation.js";

/** Ghosts of the original's layers; the last faces across depend on them. */
const LEAST_GHOSTS = 3;

type Container = ReturnType<typeof wall>;

/** A boundary layer over a wall at y = 0, with or without a shock that meets it. */
export function layerFlow(config: Config): Flow {
  const { nx, ny, nz, lx, ly, lz, dyPlus, reTau, jb, smoothing, nWall, lWall, mach, thetaWall, cfl, dt, dtEvery, prandtl, tRef } = config;
  const scheme = schemeOf(config);
  const ghosts = Math.max(LEAST_GHOSTS, ghostsOf(scheme));
  const [stretching, nearWall] = [
    { dyPlus, reTau, jb, smoothing },
    { cells: nWall, length: lWall },
  ];
  const x = uniform(nx, lx, ghosts);
  const isShock = config.case === "shock";
  const y = isShock ? shockAxis(ny, ghosts, nearWall, stretching) : layerAxis(ny, ly, ghosts, nearWall, stretching);
  const plain = gasOf({ gas: config.gas, viscosity: config.viscosity, prandtl, referenceTemperature: tRef }, 1);
  const u0 = velocityOf(plain, mach);
  const layer = layerGas(plain, mach, thetaWall);
  const { wallTemperature } = layer;
  const shock = isShock ? shockOf(config, plain, placeOf(y, ny - 1)) : undefined;
  const inflow = config.inflow === "laminar" ? laminar : turbulent;
  const { gas, start, atInflow, thickness } = inflow(config, { x, y, u0, plain, wallTemperature, layer });

  const boundary = (model: Model, side: Side): readonly Container[] => {
    if (side === "xmin") return atInflow(model);
    if (side === "ymin") return [wall(model, side, wallTemperature)];
    if (side === "ymax" && shock) return [incidentShock(model, x, y, shock)];
    return [extrapolation(model, side)];
  };
  const [columns, rows] = [coordinatesOf(x), coordinatesOf(y)];
  const axes = [x, y, uniform(nz, lz, ghosts, { periodic: true })] as const;
  const quiet = (atX: number, atY: number, z: number): readonly number[] => start(columns.get(atX)!, rows.get(atY)!, z);
  return {
    axes,
    gas,
    scheme,
    reference: { speed: u0, length: 1 },
    step: dt === undefined ? { courant: cfl, every: dtEvery } : { dt },
    initial: onceAPoint(config.random ? withNoise(quiet, axes, u0, thickness) : quiet),
    boundary,
    edges: ["xmax", "ymax"],
    wall: { temperature: wallTemperature, recovery: layer.recoveryTemperature },
    writesCells: isShock,
  };
}

/** Parts of a flow that depend on the kind of inflow. */
interface Inflow {
  readonly gas: Gas;
  readonly start: (i: number, j: number, z: number) => readonly number[];
  readonly atInflow: (model: Model) => readonly Container[];
  /** Thickness of a turbulent layer in column i. */
  readonly thickness?: (i: number) => number;
}

interface Surroundings {
  readonly x: Axis;
  readonly y: Axis;
  readonly u0: number;
  readonly plain: Gas;
  readonly wallTemperature: number;
  readonly layer: ReturnType<typeof layerGas>;
}

function turbulent({ reTau, lz, recycleX }: Config, { x, y, u0, plain, layer }: Surroundings): Inflow {
  const means: LayerMeans = layerMeans(layer, reTau, x, y, u0);
  const gas = withViscosity(plain, u0 / means.reynolds);
  return {
    gas,
    start: layerStart(means, gas, y, u0, lz),
    atInflow: (model) => recycling(model, x, y, means, recycleX),
    thickness: (i) => means.profile(i).delta,
  };
}

function laminar({ re, mach, tRef, prandtl }: Config, { x, y, u0, plain, wallTemperature }: Surroundings): Inflow {
  const gas = withViscosity(plain, u0 / re!);
  const solution = blasius({ mach, temperature: tRef, wallTemperature, prandtl, gamma: gas.gamma });
  const { at } = laminarLayer(solution, re!, u0);
  const start = (i: number, j: number): readonly number[] => {
    const { rho, u, v } = at(placeOf(x, i), placeOf(y, j));
    return conserved(gas, rho, u, v, 0);
  };
  return { gas, start, atInflow: (model) => [steadyInflow(model, start)] };
}

function shockOf(config: Config, gas: Gas, height: number): IncidentShock {
  requireShockInside(config, height);
  const { mach, shockAngle, shockX } = config;
  const angle = (shockAngle * Math.PI) / 180;
  const { rho, u, v, T } = behindShock(obliqueShock(mach, angle, gas.gamma), gas.gamma);
  const energy = T / (gas.gamma - 1) + 0.5 * (u ** 2 + v ** 2);
  return {
    angle,
    foot: shockX,
    before: conserved(gas, 1, velocityOf(gas, mach), 0, 0),
    behind: [rho, rho * u, rho * v, 0, rho * energy],
  };
}
