import assert from "node:assert/strict";
import { test } from "node:test";
import {
  energyAt,
  gammaAt,
  gasOf,
  heatAt,
  recoveryFactor,
  temperatureAt,
  velocityOf,
  viscosityAt,
  type Gas,
} from "../../../apps/navier-stokes/equations/gas.js";

const near = (value: number, expected: number, tolerance = 1e-12) =>
  assert.ok(Math.abs(value - expected) <= tolerance * Math.abs(expected), `${value} is not ${expected}`);

/** Enthalpy by mass: the energy and p / rho. */
const enthalpyAt = (gas: Gas, T: number): number => energyAt(gas, T) + T;

test("heat capacities of a calorically perfect gas are constant", () => {
  const gas = gasOf({}, 0);
  near(heatAt(gas, 3), 3.5);
  near(energyAt(gas, 2), 5);
  near(temperatureAt(gas, 5), 2);
  near(velocityOf(gas, 2), 2 * Math.sqrt(1.4));
  near(recoveryFactor(gas), Math.cbrt(0.72));
  near(recoveryFactor(gas, true), Math.sqrt(0.72));
});

test("a thermally perfect gas is air: gamma is near 1.4 at 220 K, and lower in the heat", () => {
  const gas = gasOf({ gas: "thermal" }, 0);
  near(gas.gamma, 1.4, 2e-3);
  near(gammaAt(gas, 1000 / 220), 1.336, 1e-3);
  // From 298.15 to 1000 K by JANAF's tables, in kJ/mol: 0.7808 of nitrogen, 0.2095 of oxygen, 0.0097 of argon.
  const mixture = 0.7808 * 21.463 + 0.2095 * 22.703 + 0.0097 * 14.588;
  near((8.314462 * 220 * (enthalpyAt(gas, 1000 / 220) - enthalpyAt(gas, 298.15 / 220))) / 1000, mixture, 1e-3);
  // Its enthalpy counts from the elements at 298.15 K, where it is -0.1255 kJ/mol.
  near(8.314462 * 220 * enthalpyAt(gas, 298.15 / 220), -125.5, 2e-2);
});

test("the heat capacity is the enthalpy's slope, and Newton's method inverts the energy", () => {
  const gas = gasOf({ gas: "thermal", referenceTemperature: 300 }, 0);
  for (const T of [0.7, 1, 2.5]) {
    near(heatAt(gas, T), (enthalpyAt(gas, T + 1e-5) - enthalpyAt(gas, T - 1e-5)) / 2e-5, 1e-8);
    near(temperatureAt(gas, energyAt(gas, T)), T);
  }
  assert.ok(Number.isNaN(temperatureAt(gas, Number.NaN)));
});

test("viscosity follows the power law, Sutherland's or none", () => {
  near(viscosityAt(gasOf({ viscosity: "power" }, 0.1), 2), 0.1 * 2 ** 0.76);
  near(viscosityAt(gasOf({}, 0.1), 2), (0.1 * 2 ** 1.5 * (1 + 110.4 / 220)) / (2 + 110.4 / 220));
  near(viscosityAt(gasOf({ viscosity: "constant" }, 0.1), 2), 0.1);
  near(viscosityAt(gasOf({}, 0.1), 1), 0.1);
});
