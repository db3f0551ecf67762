import { IsoformError } from "isoform";
import { recoveryFactor, viscosityAt, type Gas } from "../equations/gas.js";
import { cumulative, integral } from "./trapezoids.js";

/*
 * Mean profiles of turbulent boundary layers of a compressible gas: the temperature by the velocity (Walz), the velocity by an eddy viscosity that is
 * damped at the wall and a wake (Hasan, Larsson, Pirozzoli and Pecnik, Phys. Rev. Fluids 8, 2023). Velocities in units of the free stream's,
 * densities and temperatures of the free stream's too, and all lengths in one unit.
 */

/** Properties that all profiles of a layer share. */
export interface LayerGas {
  readonly gas: Gas;
  readonly mach: number;
  /** Temperatures of the wall, and of a wall without heat flux. */
  readonly wallTemperature: number;
  readonly recoveryTemperature: number;
}

export interface LayerProfile {
  readonly delta: number;
  readonly reTau: number;
  /** Reynolds number of free stream, momentum thickness and the viscosity of the free stream. */
  readonly reTheta: number;
  readonly theta: number;
  /** Friction coefficient. */
  readonly cf: number;
  /** Velocities at heights n delta / (length - 1). */
  readonly u: Float64Array;
  /** There too, of the velocity one iteration before: that from which `u` was integrated. */
  readonly temperature: Float64Array;
}

/** A layer's friction Reynolds number, or the Reynolds number of its momentum thickness. */
type Known = { readonly reTau: number } | { readonly reTheta: number };

const INTERVALS = 10_000;
const KARMAN = 0.41;

/** `theta`: the wall's temperature between the free stream's (0) and the recovery temperature (1). */
export function layerGas(gas: Gas, mach: number, theta: number): LayerGas {
  const recoveryTemperature = 1 + 0.5 * (gas.gamma - 1) * recoveryFactor(gas) * mach ** 2;
  return { gas, mach, recoveryTemperature, wallTemperature: 1 + theta * (recoveryTemperature - 1) };
}

/** The temperature where the velocity is u. */
const temperatureOf = ({ wallTemperature: wall, recoveryTemperature: recovery }: LayerGas, u: number): number =>
  wall + (recovery - wall) * (0.8 * u + 0.2 * u ** 2) + (1 - recovery) * u ** 2;

/** The wake's law begins at this Reynolds number of the momentum thickness. */
const LEAST_RE_THETA = 425;

/** The profile of a layer of thickness `delta`. Throws IsoformError if the Reynolds number is too low for a turbulent layer. */
export function layerProfile(layer: LayerGas, delta: number, known: Known): LayerProfile {
  const { gas, mach, wallTemperature } = layer;
  const byTau = "reTau" in known;
  const y = Float64Array.from({ length: INTERVALS + 1 }, (_, j) => (j / INTERVALS) * delta);
  const wallDensity = 1 / wallTemperature;
  const wallViscosity = viscosityAt(gas, wallTemperature) / viscosityAt(gas, 1);
  let reTau = byTau ? known.reTau : 200;
  let reTheta = byTau ? 1000 : known.reTheta;
  let frictionMach = 0.1;
  let u: Float64Array = y.map((height) => (0.99 * height) / delta);
  const wakeShape = y.map((height) => Math.PI * Math.sin((Math.PI * height) / delta));
  const viscosityOf = (T: number): number => viscosityAt(gas, T);
  const unit = viscosityOf(1);
  for (;;) {
    if (!(reTheta >= LEAST_RE_THETA))
      throw new IsoformError(
        `navier-stokes: at Mach number ${mach} a layer of re_tau ${reTau.toPrecision(4)} has an Re_theta of ${reTheta.toPrecision(4)}, and turbulent ones ` +
          `begin at ${LEAST_RE_THETA}: choose a greater re_tau or mach, or the inflow "laminar"`,
      );
    const z = reTheta / LEAST_RE_THETA - 1;
    const wake = (0.69 * (1 - Math.exp(-0.243 * Math.sqrt(z) - 0.15 * z))) / KARMAN;
    const range = 17 + 19.3 * frictionMach;
    const temperature = u.map((v) => temperatureOf(layer, v));
    const slope = new Float64Array(y.length);
    const yPlus = new Float64Array(y.length);
    for (let j = 0; j < y.length; j++) {
      const T = temperature[j];
      const root = Math.sqrt(wallDensity * T);
      const m = viscosityOf(T) / unit / wallViscosity;
      yPlus[j] = (reTau * y[j]) / delta;
      const local = yPlus[j] / root / m;
      const damping = (1 - Math.exp(-local / range)) ** 2;
      slope[j] = 1 / (m + KARMAN * m * local * damping) + (root * wake * wakeShape[j]) / reTau;
    }
    const U = cumulative(slope, yPlus);
    const free = U[INTERVALS] / 0.99;
    u = U.map((value) => value / free);
    const theta = integral(
      u.map((v, j) => (v * (1 - v)) / temperature[j]),
      y,
    );
    const cf = (2 * wallDensity) / free ** 2;
    frictionMach = mach * Math.sqrt(cf / 2);
    const perTau = ((theta / delta) * wallViscosity * free) / wallDensity;
    const next = byTau ? reTau * perTau : reTheta / perTau;
    const change = Math.abs(next - (byTau ? reTheta : reTau));
    if (byTau) reTheta = next;
    else reTau = next;
    if (!(change > 1e-5)) return { delta, reTau, reTheta, theta, cf, u, temperature };
  }
}

/**
 * Velocity and density at a height, linear between the profile's points. Beyond the layer the velocity goes on with the slope of its end up to 1;
 * from twice its thickness on it is 1.
 */
export function valuesAt(layer: LayerGas, { u, temperature, delta }: LayerProfile, height: number): { u: number; rho: number } {
  const slope = u[INTERVALS] - u[INTERVALS - 1];
  const at = (n: number): { u: number; rho: number } => {
    if (n <= INTERVALS) return { u: u[n], rho: 1 / temperature[n] };
    const beyond = n > 2 * INTERVALS ? 1 : Math.min(1, u[INTERVALS] + (n - INTERVALS) * slope);
    return { u: beyond, rho: 1 / temperatureOf(layer, beyond) };
  };
  const place = (height / delta) * INTERVALS;
  const n = Math.floor(place);
  const [below, above] = [at(n), at(n + 1)];
  const between = (a: number, b: number): number => a + (place - n) * (b - a);
  return { u: between(below.u, above.u), rho: between(below.rho, above.rho) };
}
