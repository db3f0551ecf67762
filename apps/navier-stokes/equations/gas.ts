/*
 * An ideal gas in units where its gas constant, and the density, temperature and length of reference are 1: p = rho T. Either its heat
 * capacities are constant (calorically perfect), or they depend on the temperature (thermally perfect).
 */

export const GASES = ["perfect", "thermal"] as const;
export const VISCOSITIES = ["sutherland", "power", "constant"] as const;

export interface Gas {
  /** Ratio of heat capacities at T = 1. */
  readonly gamma: number;
  /** Heat capacity of a thermally perfect gas: cp = sum of coefficients[l + 2] T^l for l = -2 ... 4, and the enthalpy at T = 1. */
  readonly heat?: { readonly coefficients: readonly number[]; readonly enthalpy: number };
  readonly prandtl: number;
  readonly viscosity: Viscosity;
}

export interface Viscosity {
  readonly law: (typeof VISCOSITIES)[number];
  /** Viscosity at T = 1; 0 for a gas without viscosity. */
  readonly reference: number;
  /** Sutherland's temperature over the temperature of reference. */
  readonly sutherland: number;
}

export interface GasOptions {
  readonly gas?: (typeof GASES)[number];
  readonly viscosity?: Viscosity["law"];
  readonly prandtl?: number;
  /** Ratio of heat capacities of a calorically perfect gas. */
  readonly gamma?: number;
  /** Temperature T = 1, in kelvin. */
  readonly referenceTemperature?: number;
}

/** Air, calorically perfect; T = 1 is 220 K. */
export const GAS_DEFAULTS = {
  gas: "perfect",
  viscosity: "sutherland",
  prandtl: 0.72,
  referenceTemperature: 220,
} as const satisfies GasOptions;
/** Sutherland's temperature of air, in kelvin. */
const SUTHERLAND = 110.4;

/** cp/R of air from 200 to 1000 K, of T in kelvin: coefficients of T^-2 ... T^4, and the constant of its enthalpy (McBride, Zehe and Gordon, 2002). */
const AIR = [1.00995016e4, -1.96827561e2, 5.00915511, -5.76101373e-3, 1.06685993e-5, -7.94029797e-9, 2.18523191e-12];
const AIR_ENTHALPY = -176.796731;

/** A gas whose viscosity at T = 1 is `mu0`. */
export function gasOf(options: GasOptions, mu0: number): Gas {
  const {
    gas = GAS_DEFAULTS.gas,
    viscosity = GAS_DEFAULTS.viscosity,
    prandtl = GAS_DEFAULTS.prandtl,
    gamma = 1.4,
    referenceTemperature = GAS_DEFAULTS.referenceTemperature,
  } = options;
  const law: Viscosity = { law: viscosity, reference: mu0, sutherland: SUTHERLAND / referenceTemperature };
  const heat = gas === "thermal" ? heatOfAir(referenceTemperature) : undefined;
  const gas0: Gas = { gamma, heat, prandtl, viscosity: law };
  return { ...gas0, gamma: gammaAt(gas0, 1) };
}

/** The same gas with another viscosity at T = 1. */
export const withViscosity = (gas: Gas, mu0: number): Gas => ({ ...gas, viscosity: { ...gas.viscosity, reference: mu0 } });

/** Coefficients of temperatures in units of `T`, in kelvin. */
function heatOfAir(T: number): Required<Gas>["heat"] {
  const coefficients = AIR.map((a, n) => a * T ** (n - 2));
  const sum = AIR.reduce((total, a, n) => (n === 1 ? total : total + (a * T ** (n - 1)) / (n - 1)), AIR_ENTHALPY + AIR[1] * Math.log(T));
  return { coefficients, enthalpy: sum / T };
}

/** Heat capacity at constant pressure by mass; that at constant volume is 1 less. */
export function heatAt({ gamma, heat }: Gas, T: number): number {
  return heat ? heat.coefficients.reduce((sum, a, n) => sum + a * T ** (n - 2), 0) : gamma / (gamma - 1);
}

/** Ratio of heat capacities. */
export function gammaAt(gas: Gas, T: number): number {
  const cp = heatAt(gas, T);
  return cp / (cp - 1);
}

/** Enthalpy by mass. */
function enthalpyAt({ gamma, heat }: Gas, T: number): number {
  if (!heat) return (gamma / (gamma - 1)) * T;
  return heat.coefficients.reduce((sum, a, n) => sum + (n === 1 ? a * Math.log(T) : (a * (T ** (n - 1) - 1)) / (n - 1)), heat.enthalpy);
}

/** Internal energy by mass. */
export const energyAt = (gas: Gas, T: number): number => enthalpyAt(gas, T) - T;

/** Newton's method ends with a change of the temperature below this. */
const CLOSE = 1e-12;
const MOST_ITERATIONS = 50;

/** The temperature at an internal energy by mass; NaN where there is none. `near` is not far from it. */
export function temperatureAt(gas: Gas, energy: number, near = 1): number {
  let T = near;
  for (let n = 0, change = 1; n < MOST_ITERATIONS && Math.abs(change) >= CLOSE; n++) {
    change = (energy - energyAt(gas, T)) / (heatAt(gas, T) - 1);
    T += change;
  }
  return T;
}

const LAWS: Record<Viscosity["law"], (of: Viscosity, T: number) => number> = {
  constant: ({ reference }) => reference,
  power: ({ reference }, T) => reference * T ** 0.76,
  sutherland: ({ reference, sutherland: S }, T) => (reference * T * Math.sqrt(T) * (1 + S)) / (T + S),
};

/** Dynamic viscosity. */
export const viscosityAt = ({ viscosity }: Gas, T: number): number => LAWS[viscosity.law](viscosity, T);

/** The velocity of a Mach number at T = 1. */
export const velocityOf = ({ gamma }: Gas, mach: number): number => mach * Math.sqrt(gamma);

/** Recovery factor, for the temperature of a wall without heat flux: Pr^(1/3) in turbulent flow, Pr^(1/2) in laminar flow. */
export const recoveryFactor = ({ prandtl }: Gas, laminar = false): number => prandtl ** (laminar ? 1 / 2 : 1 / 3);
