import type { Axis } from "../equations/axes.js";
import { gammaAt, gasOf, recoveryFactor, viscosityAt, withViscosity, type Gas, type GasOptions } from "../equations/gas.js";
import { cumulative, integral } from "./trapezoids.js";

/*
 * The flow between two walls at y = -1 and 1: temperatures, the Reynolds number that gives the asked friction, and the flow at the start.
 */

interface ChannelOptions extends GasOptions {
  readonly mach: number;
  /** Friction Reynolds number: of half the channel's height, and density and viscosity at the wall. */
  readonly reTau: number;
  /**
   * From -1 on, the walls' temperature between the bulk's (0) and the recovery temperature (1), with the Mach number by the bulk's; it is kept. Below
   * -1, the Mach number is by the walls' temperature, and the bulk temperature is left to itself.
   */
  readonly thetaWall: number;
}

export interface Channel {
  readonly gas: Gas;
  /** Mach number by the walls' temperature, which is 1. */
  readonly mach: number;
  /** Bulk velocity. */
  readonly u0: number;
  /** Reynolds number of bulk velocity and half the height, with density and viscosity of reference. */
  readonly reynolds: number;
  /** The bulk temperature that is kept. */
  readonly targetTemperature?: number;
}

/** Scales of a channel whose axis across has `faces` from wall to wall. */
export function channelOf(options: ChannelOptions, { faces }: Pick<Axis, "faces">): Channel {
  const { mach, thetaWall, reTau } = options;
  const gas = gasOf(options, 1);
  const r = recoveryFactor(gas);
  const cold = thetaWall < -1;
  const recovery = (gamma: number, M: number): number => 1 + 0.5 * (gamma - 1) * r * M ** 2;
  const bulkMach = cold ? mach / Math.sqrt(recovery(gas.gamma, mach)) : mach;
  const wallOf = (gamma: number): number => 1 + (cold ? -1 : thetaWall) * (recovery(gamma, bulkMach) - 1);

  let gamma = gas.gamma;
  let wall = wallOf(gamma);
  for (let n = 0; gas.heat && !cold && n < 100; n++) {
    const next = gammaAt(gas, 1 / wall);
    if (Math.abs(next - gamma) < 1e-9) break;
    gamma = next;
    wall = wallOf(gamma);
  }
  const target = cold ? undefined : 1 / wall;
  const wallMach = target === undefined ? mach : mach * Math.sqrt(target);
  const u0 = wallMach * Math.sqrt(gas.gamma);
  // The profile's recovery temperature is by the ratio of heat capacities at T = 1; its wall keeps the proportion.
  const profileRecovery = recovery(gas.gamma, bulkMach);
  const profileWall = (wall / recovery(gamma, bulkMach)) * profileRecovery;
  const reynolds = bulkReynolds(gas, reTau, profileWall, profileRecovery, faces!);
  return { gas: withViscosity(gas, u0 / reynolds), mach: wallMach, u0, reynolds, targetTemperature: target };
}

const KARMAN = 0.39;
const INTERCEPT = 5.3;

/** Mean velocity in wall units of a channel without changes of density: Reichardt's law to 0.275 of half the height, and a parabola at the centre. */
export function incompressibleProfile(yPlus: number, reTau: number): number {
  const eta = Math.min(1, yPlus / reTau);
  if (eta > 0.275) return INTERCEPT + Math.log(0.275 * reTau) / KARMAN + (0.725 / (0.55 * KARMAN)) * (1 - ((1 - eta) / 0.725) ** 2);
  const slope = INTERCEPT - Math.log(KARMAN) / KARMAN;
  return Math.log(1 + KARMAN * yPlus) / KARMAN + slope * (1 - Math.exp(-yPlus / 11) - (yPlus / 11) * Math.exp(-0.33 * yPlus));
}

/** Temperatures in units of the bulk's: `wall`, and `recovery` without heat flux. */
function bulkReynolds(gas: Gas, reTau: number, wall: number, recovery: number, faces: Float64Array): number {
  const half = (faces.length - 1) / 2;
  const height = Float64Array.from({ length: half + 1 }, (_, j) => (faces[j] - faces[0]) / (faces[half] - faces[0]));
  const inner = height.map((y) => reTau * y);
  let yPlus: Float64Array = inner;
  for (;;) {
    const incompressible = yPlus.map((y) => incompressibleProfile(y, reTau));
    let U: Float64Array = incompressible;
    let density: Float64Array = U;
    let viscosity: Float64Array = U;
    for (let change = 1; change > 1e-9;) {
      const u = U.map((value) => value / U[half - 1]);
      const T = u.map((v) => wall + (recovery - wall) * v + (1 - recovery) * v ** 2);
      density = T.map((value) => wall / value);
      viscosity = T.map((value) => viscosityAt(gas, value) / viscosityAt(gas, wall));
      const next = cumulative(
        density.map((rho, j) => Math.sqrt(viscosity[j] / rho)),
        incompressible,
      );
      change = next.reduce((sum, value, j) => sum + Math.abs(value - U[j]), 0) / (half + 1);
      U = next;
    }
    const next = cumulative(
      density.map((rho, j) => Math.sqrt(rho) / viscosity[j] ** 1.5),
      inner,
    );
    const change = Math.abs(next[half] - yPlus[half]) / (half + 1);
    yPlus = next;
    if (!(change >= 1e-9))
      return (
        reTau *
        integral(
          U.map((value, j) => density[j] * value),
          height,
        )
      );
  }
}
