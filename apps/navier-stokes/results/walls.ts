import { innerPoints } from "../equations/axes.js";
import { frictionOf, type Friction, type MeanProfile, type Wall } from "./friction.js";
import { heatAt, viscosityAt } from "../equations/gas.js";
import type { Flow } from "../simulation/simulation.js";
import type { Means } from "../measures/statistics.js";
import type { NamedColumns } from "./text-table.js";
import { integral } from "../starts/trapezoids.js";

/*
 * Friction and heat flux at the walls of channels and layers, and how thick layers are, from mean profiles.
 */

interface ChannelWall {
  /** Means of both halves, by the distance from the wall. */
  readonly profile: MeanProfile;
  readonly wall: Wall;
  readonly friction: Friction;
  /** Dimensionless heat flux B_q = q_w / (rho_w c_p u_tau T_w) from the wall into the flow. */
  readonly heatParameter: number;
}

/** The value at each distance from a wall: the mean of both halves of a channel; `sign` is -1 for what changes its sign from wall to wall. */
export function foldHalves(values: ArrayLike<number>, sign: 1 | -1 = 1): Float64Array {
  const last = values.length - 1;
  return Float64Array.from({ length: values.length / 2 }, (_, j) => 0.5 * (values[j] + sign * values[last - j]));
}

const heatParameterOf = ({ heatFlux, velocity }: Friction, { pressure, temperature, heat }: Wall): number =>
  -heatFlux / ((pressure / temperature) * heat * velocity * temperature);

/** The walls of a channel, of means along y. */
export function channelWall({ axes, gas, wall: given }: Flow, { columns }: Means): ChannelWall {
  const points = innerPoints(axes[1]);
  const y = Float64Array.from({ length: points.length / 2 }, (_, j) => 1 + points[j]);
  const [rho, u, T, pressure, momentum] = ["rho", "u", "T", "p", "rho_u"].map((name) => foldHalves(columns.get(name)!));
  const { faces } = axes[1];
  const mean = (values: Float64Array): number => values.reduce((sum, value, j) => sum + value * (faces![j + 1] - faces![j]), 0);
  const density = mean(rho);
  const wall: Wall = {
    temperature: given!.temperature,
    viscosity: viscosityAt(gas, given!.temperature),
    pressure: pressure[0],
    prandtl: gas.prandtl,
    heat: heatAt(gas, given!.temperature),
    speed: mean(momentum) / density,
    density,
    thickness: 1,
  };
  const profile = { y, u, rho, T };
  const friction = frictionOf(profile, wall);
  return { profile, wall, friction, heatParameter: heatParameterOf(friction, wall) };
}

/** The share of the stream's velocity at which a layer ends. */
const EDGE = 0.99;

/** Height at which u first reaches a value, by straight lines between points; NaN if it never does. */
function heightOf(y: ArrayLike<number>, u: ArrayLike<number>, value: number): number {
  for (let j = 0; j < y.length; j++) {
    if (u[j] < value) continue;
    const [y0, u0] = j === 0 ? [0, 0] : [y[j - 1], u[j - 1]];
    return y0 + ((value - u0) / (u[j] - u0)) * (y[j] - y0);
  }
  return Number.NaN;
}

/** The mean profile in column i of means in the plane of x and y. */
function profileAt({ axes }: Flow, { columns, extents }: Means, i: number): MeanProfile {
  const y = innerPoints(axes[1]);
  const column = (name: string): Float64Array => Float64Array.from(y, (_, j) => columns.get(name)![i + extents[0] * j]);
  return { y, u: column("u"), rho: column("rho"), T: column("T") };
}

/** The wall under column i of a layer. */
function layerWall(flow: Flow, means: Means, i: number): { profile: MeanProfile; wall: Wall; friction: Friction } {
  const { gas, reference, wall: given } = flow;
  const profile = profileAt(flow, means, i);
  const wall: Wall = {
    temperature: given!.temperature,
    viscosity: viscosityAt(gas, given!.temperature),
    pressure: means.columns.get("p")![i],
    prandtl: gas.prandtl,
    heat: heatAt(gas, given!.temperature),
    speed: reference.speed,
    density: 1,
    thickness: heightOf(profile.y, profile.u, EDGE * reference.speed),
  };
  return { profile, wall, friction: frictionOf(profile, wall) };
}

/**
 * Along a layer, by the free stream's density, velocity and viscosity: `cf`; shear stress and pressure at the wall; friction velocity; the thickness `delta99`, and the
 * displacement and momentum thickness up to twice that, with their ratio `H`; `Re_tau` of delta99 and `Re_theta`; `B_q` = q_w / (rho_w c_p u_tau T_w), and Stanton's number `St` = q_w / (rho u c_p
 * (T_w - T_r)) with the recovery temperature T_r, of the heat flux q_w from the wall into the flow. NaN stands where the velocity reaches 0.99 of the stream's nowhere, and for St of walls at T_r.
 */
export function layerWalls(flow: Flow, means: Means): NamedColumns {
  const { axes, gas, reference, wall: given } = flow;
  const x = innerPoints(axes[0]);
  const rows = Array.from(x, (at, i) => {
    const { profile, wall, friction } = layerWall(flow, means, i);
    const [displacement, momentum] = thicknesses(profile, reference.speed, 2 * wall.thickness);
    const excess = given!.temperature - given!.recovery!;
    return {
      x: at,
      cf: friction.cf,
      tau_w: friction.stress,
      p_w: wall.pressure,
      u_tau: friction.velocity,
      delta99: wall.thickness,
      displacement,
      theta: momentum,
      H: displacement / momentum,
      Re_tau: friction.reTau,
      Re_theta: (reference.speed * momentum) / viscosityAt(gas, 1),
      B_q: heatParameterOf(friction, wall),
      St: Math.abs(excess) < 1e-9 ? Number.NaN : -friction.heatFlux / (reference.speed * wall.heat * excess),
    };
  });
  const names = Object.keys(rows[0]) as (keyof (typeof rows)[number])[];
  return new Map(names.map((name) => [name, Float64Array.from(rows, (row) => row[name])]));
}

/** Displacement and momentum thickness, of the profile up to `height`. */
function thicknesses({ y, u, rho }: MeanProfile, speed: number, height: number): readonly [number, number] {
  if (Number.isNaN(height)) return [Number.NaN, Number.NaN];
  const count = Array.from(y).filter((at) => at <= height).length;
  const heights = [0, ...Array.from({ length: count }, (_, j) => y[j])];
  const flux = [0, ...Array.from({ length: count }, (_, j) => (rho[j] * u[j]) / speed)];
  const lack = flux.map((value) => 1 - value);
  const deficit = flux.map((value, j) => (j === 0 ? 0 : value * (1 - u[j - 1] / speed)));
  return [integral(lack, heights), integral(deficit, heights)];
}

const number = (value: number): string => value.toPrecision(5);

/** Describes means: `the mean of 20 samples`. */
export const sampledText = ({ samples }: Pick<Means, "samples">): string =>
  samples > 1 ? `the mean of ${samples} samples` : "the flow as it is now";

/** Text on the walls of a flow. */
export function wallText(flow: Flow, means: Means): string {
  const of = sampledText(means);
  if (flow.channel) {
    const { friction, heatParameter } = channelWall(flow, means);
    const { reTau, velocity, cf, heatFlux } = friction;
    return `walls in ${of}: Re_tau ${number(reTau)}, u_tau ${number(velocity)}, cf ${number(cf)}, heat flux into them ${number(heatFlux)}, B_q ${number(heatParameter)}\n`;
  }
  const walls = layerWalls(flow, means);
  const count = means.extents[0];
  const lines = [0.25, 0.5, 0.75].map((share) => {
    const at = (name: string): string => number(walls.get(name)![Math.floor(share * count)]);
    return `  x ${at("x")}: cf ${at("cf")}, Re_tau ${at("Re_tau")}, Re_theta ${at("Re_theta")}, H ${at("H")}, B_q ${at("B_q")}, St ${at("St")}\n`;
  });
  return `the wall in ${of}:\n${lines.join("")}`;
}
