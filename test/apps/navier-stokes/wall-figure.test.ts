import assert from "node:assert/strict";
import { it } from "node:test";
import { gasOf, viscosityAt } from "../../../apps/navier-stokes/equations/gas.js";
import { turbulentFriction } from "../../../apps/navier-stokes/results/wall-figure.js";

const gas = gasOf({}, 1e-3);
const near = (value: number, expected: number): void => assert.ok(Math.abs(value / expected - 1) < 1e-12, `${value}, ${expected}`);

it("turbulent friction is Karman and Schoenherr's where temperatures do not change", () => {
  near(turbulentFriction(1000, { gas, wall: { temperature: 1, recovery: 1 } }), 1 / (17.08 * 9 + 25.11 * 3 + 6.012));
});

it("turbulent friction on a wall without heat flux is van Driest's", () => {
  const recovery = 1.7;
  const factor = 0.7 / Math.asin(Math.sqrt(0.7 / 1.7)) ** 2;
  const digits = Math.log10((1000 * viscosityAt(gas, 1)) / viscosityAt(gas, recovery));
  near(
    turbulentFriction(1000, { gas, wall: { temperature: recovery, recovery } }),
    1 / (17.08 * digits ** 2 + 25.11 * digits + 6.012) / factor,
  );
});

it("a cold wall has more friction than one without heat flux", () => {
  const [cold, warm] = [1, 1.7].map((temperature) => turbulentFriction(1000, { gas, wall: { temperature, recovery: 1.7 } }));
  assert.ok(cold > warm && cold < 2 * warm, `${cold}, ${warm}`);
});
