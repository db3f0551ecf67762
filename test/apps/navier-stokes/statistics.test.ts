import assert from "node:assert/strict";
import { test } from "node:test";
import { incompressibleProfile } from "../../../apps/navier-stokes/starts/channel-profile.js";
import { frictionOf, inWallUnits, lawOfTheWall, MOSER_180 } from "../../../apps/navier-stokes/results/friction.js";
import { FACTORS, STATISTICS } from "../../../apps/navier-stokes/measures/statistics-names.js";

const near = (value: number, expected: number, tolerance: number) =>
  assert.ok(Math.abs(value - expected) <= tolerance * Math.abs(expected), `${value} is not ${expected}`);

test("statistics have names of their own, and all factors are used", () => {
  assert.equal(new Set(STATISTICS.map(({ name }) => name)).size, STATISTICS.length);
  assert.equal(STATISTICS.length, 70);
  assert.ok(STATISTICS.every(({ name }) => /^\w+$/.test(name)));
  const used = new Set(STATISTICS.flatMap(({ of }) => of));
  assert.deepEqual(
    FACTORS.filter((factor) => !used.has(factor)),
    [],
  );
  assert.ok(STATISTICS.some(({ name }) => name === "rho_v_u2"));
});

const wall = { temperature: 2, viscosity: 1e-3, pressure: 1, prandtl: 0.7, heat: 3.5, speed: 1, density: 1, thickness: 1 };

test("a linear profile has its slope's friction and heat flux", () => {
  const y = [0.001, 0.002, 0.003];
  const friction = frictionOf({ y, u: y.map((h) => 50 * h), T: y.map((h) => 2 + 10 * h) }, wall);
  near(friction.stress, 0.05, 1e-14);
  near(friction.cf, 0.1, 1e-14);
  near(friction.heatFlux, ((1e-3 * 3.5) / 0.7) * 10, 1e-12);
  near(friction.velocity, Math.sqrt(0.1), 1e-14);
  near(friction.reTau, (0.5 * Math.sqrt(0.1)) / 1e-3, 1e-13);
});

test("in wall units the sublayer is y+, and van Driest's velocity that of a constant density", () => {
  const y = [0.001, 0.002, 0.003];
  const profile = { y, u: y.map((h) => 50 * h), rho: [0.5, 0.5, 0.5], T: [2, 2, 2] };
  const { yPlus, uPlus, vanDriest } = inWallUnits(profile, wall, frictionOf(profile, wall));
  for (const n of [0, 1, 2]) {
    near(uPlus[n], yPlus[n], 1e-12);
    near(vanDriest[n], uPlus[n], 1e-12);
  }
  const light = inWallUnits({ ...profile, rho: [0.5, 2, 2] }, wall, frictionOf(profile, wall));
  near(light.vanDriest[2] - light.vanDriest[1], 2 * (light.uPlus[2] - light.uPlus[1]), 1e-12);
});

test("the profile that channels are laid out by is near the published one", () => {
  for (const [yPlus, uPlus] of MOSER_180) near(incompressibleProfile(yPlus, 178.12), uPlus, 0.04);
  near(lawOfTheWall(98.04), 17.094, 0.05);
});
