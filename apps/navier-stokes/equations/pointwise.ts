import { helper, table, type f32, type f64 } from "isoform";
import type { Cell, FieldAccess } from "isoform/grid";
import type { Gas, Viscosity } from "./gas.js";

/*
 * Values of one cell, for bodies of containers. A state is a private array of `STATE` values: density, velocity, pressure, temperature, and
 * the energy by mass that central fluxes carry, for those alone.
 */

export type Real = typeof f64 | typeof f32;

/** A private array. */
export interface Values {
  [n: number]: number;
  readonly length: number;
}

/** Conserved values of a cell: density, momentum and total energy, each by volume. */
export const CONSERVED = 5;
export const STATE = 7;

/** A field of conserved values, and one of temperatures, in a body. */
export type Conserved = FieldAccess<5, 3>;
export type Temperatures = FieldAccess<1, 3>;

export type Pointwise = ReturnType<typeof pointwise>;

/** Functions of one cell's values, in units where the gas constant is 1. */
export function pointwise(gas: Gas, real: Real) {
  const thermal = gas.heat ? thermallyPerfect(gas.heat, real) : caloricallyPerfect(gas.gamma);
  const { energyOf } = thermal;

  /** Total enthalpy by mass of a state. */
  const enthalpyOf = helper(
    (s: Values): number => energyOf(s[5]) + s[5] + 0.5 * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]),
    () => [energyOf],
  );

  return { ...thermal, enthalpyOf, viscosityOf: VISCOSITIES[gas.viscosity.law](gas.viscosity) };
}

function caloricallyPerfect(gamma: number) {
  const [heatAtVolume, heatAtPressure, perEnergy, perEnthalpy] = [1 / (gamma - 1), gamma / (gamma - 1), gamma - 1, (gamma - 1) / gamma];
  const stateOf = helper(
    (w: Conserved, T: Temperatures, c: Cell<3>, dx: number, dy: number, dz: number, s: Values): void => {
      s[0] = w.at(c, dx, dy, dz)[0];
      const inverse = 1 / s[0];
      for (let k = 1; k < 4; k++) s[k] = w.at(c, dx, dy, dz)[k] * inverse;
      s[5] = perEnergy * (w.at(c, dx, dy, dz)[4] * inverse - 0.5 * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]));
      s[4] = s[0] * s[5];
    },
    () => [perEnergy],
  );
  return {
    /** Puts what is known of the cell at (dx, dy, dz) into `s`, but for what central fluxes carry. */
    stateOf,
    /** Internal energy by mass. */
    energyOf: helper(
      (T: number): number => heatAtVolume * T,
      () => [heatAtVolume],
    ),
    /** The temperature at an enthalpy by mass without kinetic energy; `near` is not far from it. */
    temperatureOf: helper(
      (h: number, _near: number): number => perEnthalpy * h,
      () => [perEnthalpy],
    ),
    /** The same at an internal energy. */
    temperatureOfEnergy: helper(
      (e: number, _near: number): number => perEnergy * e,
      () => [perEnergy],
    ),
    /** Heat capacity at constant pressure by mass. */
    heatOf: helper(
      (_T: number): number => heatAtPressure,
      () => [heatAtPressure],
    ),
    /** Ratio of heat capacities. */
    gammaOf: helper(
      (_T: number): number => gamma,
      () => [gamma],
    ),
  };
}

/** Newton's method takes fewer from a start that is near. */
const MOST_ITERATIONS = 20;
const CLOSE = 1e-12;

function thermallyPerfect({ coefficients, enthalpy }: Required<Gas>["heat"], real: Real) {
  const a = table(real, coefficients);
  // Factors of T^(l+1): the integral of a_l T^l, and 0 where that is a logarithm.
  const integrals = coefficients.map((value, n) => (n === 1 ? 0 : value / (n - 1)));
  const b = table(real, integrals);
  const start = enthalpy - integrals.reduce((sum, value) => sum + value, 0);
  const close = real.type === "f64" ? CLOSE : 1e-6;
  const heatOf = helper(
    (T: number): number => (a[0] / T + a[1]) / T + a[2] + T * (a[3] + T * (a[4] + T * (a[5] + T * a[6]))),
    () => [a],
  );
  const enthalpyAt = helper(
    (T: number): number => start + b[0] / T + a[1] * Math.log(T) + T * (b[2] + T * (b[3] + T * (b[4] + T * (b[5] + T * b[6])))),
    () => [start, a, b],
  );
  const stateOf = helper(
    (w: Conserved, T: Temperatures, c: Cell<3>, dx: number, dy: number, dz: number, s: Values): void => {
      s[0] = w.at(c, dx, dy, dz)[0];
      const inverse = 1 / s[0];
      for (let k = 1; k < 4; k++) s[k] = w.at(c, dx, dy, dz)[k] * inverse;
      s[5] = T.at(c, dx, dy, dz);
      s[4] = s[0] * s[5];
    },
    () => [],
  );
  return {
    stateOf,
    energyOf: helper(
      (T: number): number => enthalpyAt(T) - T,
      () => [enthalpyAt],
    ),
    temperatureOf: helper(
      (h: number, near: number): number => {
        let T = near;
        let change = 1;
        for (let n = 0; n < MOST_ITERATIONS && Math.abs(change) >= close; n++) {
          change = (h - enthalpyAt(T)) / heatOf(T);
          T += change;
        }
        return T;
      },
      () => [MOST_ITERATIONS, close, enthalpyAt, heatOf],
    ),
    temperatureOfEnergy: helper(
      (e: number, near: number): number => {
        let T = near;
        let change = 1;
        for (let n = 0; n < MOST_ITERATIONS && Math.abs(change) >= close; n++) {
          change = (e - (enthalpyAt(T) - T)) / (heatOf(T) - 1);
          T += change;
        }
        return T;
      },
      () => [MOST_ITERATIONS, close, enthalpyAt, heatOf],
    ),
    heatOf,
    gammaOf: helper(
      (T: number): number => heatOf(T) / (heatOf(T) - 1),
      () => [heatOf],
    ),
  };
}

/** Dynamic viscosity at a temperature, by law. */
const VISCOSITIES: Record<Viscosity["law"], (of: Viscosity) => (T: number) => number> = {
  constant: ({ reference }) =>
    helper(
      (_T: number): number => reference,
      () => [reference],
    ),
  power: ({ reference }) =>
    helper(
      (T: number): number => reference * Math.pow(T, 0.76),
      () => [reference],
    ),
  sutherland: ({ reference, sutherland }) => {
    const factor = reference * (1 + sutherland);
    return helper(
      (T: number): number => (factor * T * Math.sqrt(T)) / (T + sutherland),
      () => [factor, sutherland],
    );
  },
};
