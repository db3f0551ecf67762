import assert from "node:assert/strict";
import { test } from "node:test";
import { behindShock, obliqueShock } from "../../../apps/navier-stokes/starts/oblique-shock.js";
import { riemann } from "../../../apps/navier-stokes/starts/riemann.js";
import { shuOsher, sod } from "../../../apps/navier-stokes/starts/tube.js";
import { isentropicVortex, taylorGreen } from "../../../apps/navier-stokes/starts/vortices.js";

const near = (value: number, expected: number, tolerance: number) =>
  assert.ok(Math.abs(value - expected) <= tolerance, `${value} is not ${expected}`);

test("a shock at 38.774266 degrees to a stream of Mach number 2 turns it by 9.5", () => {
  const shock = obliqueShock(2, (38.774266 * Math.PI) / 180, 1.4);
  near((shock.deflection * 180) / Math.PI, 9.5, 1e-6);
  near(shock.pressure, 1.663571, 1e-6);
  near(shock.density, 1.432938, 1e-6);
  near(shock.temperature, 1.160951, 1e-6);
  const { rho, u, v, T } = behindShock(shock, 1.4);
  near(Math.atan2(-v, u), shock.deflection, 1e-15);
  // What goes into the shock comes out of it: mass, and the velocity along it.
  const angle = (38.774266 * Math.PI) / 180;
  const u0 = 2 * Math.sqrt(1.4);
  near(rho * (u * Math.sin(angle) + v * Math.cos(angle)), u0 * Math.sin(angle), 1e-12);
  near(u * Math.cos(angle) - v * Math.sin(angle), u0 * Math.cos(angle), 1e-12);
  near(3.5 * T + 0.5 * (u ** 2 + v ** 2), 3.5 + 0.5 * u0 ** 2, 1e-12);
  assert.throws(() => obliqueShock(2, 0.5, 1.4), /shocks from 30.00 to 90 degrees/);
  assert.throws(() => obliqueShock(0.5, 1, 1.4), /Mach number above 1/);
});

test("Sod's tube has the published states, and jumps between them where these say", () => {
  const at = (x: number) => sod.exact!(x, 0.2);
  near(at(0.6).p, 0.30313, 1e-5);
  near(at(0.6).u, 0.92745, 1e-5);
  near(at(0.6).rho, 0.42632, 1e-5);
  near(at(0.8).rho, 0.26557, 1e-5);
  assert.deepEqual(at(0.2), sod.start(0.2));
  assert.deepEqual(at(0.9), { ...sod.start(0.9), u: 0 });
  near(at(0.5 + 0.2 * 1.7521).rho, 0.26557, 1e-5);
  near(at(0.5 + 0.2 * 1.7523).rho, 0.125, 1e-12);
  // In the fan the entropy is that of the left state.
  near(at(0.4).p / at(0.4).rho ** 1.4, 1, 1e-12);
  assert.deepEqual(sod.exact!(0.6, 0), sod.start(0.6));
});

test("mirrored states have the mirrored solution, and a vacuum is refused", () => {
  const [a, b] = [
    { rho: 1, u: 0.3, p: 0.4 },
    { rho: 2, u: -1, p: 1.5 },
  ];
  const mirror = ({ rho, u, p }: typeof a) => ({ rho, u: -u, p });
  const [there, back] = [riemann(a, b, 1.4), riemann(mirror(b), mirror(a), 1.4)];
  for (const s of [-2, -0.5, 0.1, 1]) {
    const [x, y] = [there(s), mirror(back(-s))];
    near(x.rho, y.rho, 1e-12);
    near(x.u, y.u, 1e-12);
    near(x.p, y.p, 1e-12);
  }
  assert.throws(() => riemann({ rho: 1, u: -20, p: 1 }, { rho: 1, u: 20, p: 1 }, 1.4), /vacuum/);
});

test("before its waves Shu and Osher's shock obeys the relations of shocks", () => {
  const { rho, u, p } = shuOsher.start(-4.5);
  const speed = 3 * Math.sqrt(1.4);
  near(rho * (speed - u), speed, 1e-12);
  near(p + rho * (speed - u) ** 2, 1 + speed ** 2, 1e-12);
});

test("the vortex keeps its entropy and comes round", () => {
  const { rho, p } = isentropicVortex(8.5, 7.7);
  near(p / rho ** 1.4, 1, 1e-14);
  const [now, then] = [isentropicVortex(9, 6, 0), isentropicVortex(9, 6, 32)];
  near(now.rho, then.rho, 1e-14);
  near(isentropicVortex(8, 8).rho, (1 - (0.4 * 25 * Math.E) / (8 * 1.4 * Math.PI ** 2)) ** 2.5, 1e-15);
});

test("the vortices of Taylor and Green have no divergence", () => {
  const h = 1e-4;
  const at = (x: number, y: number, z: number) => taylorGreen(x, y, z, 1).velocity;
  const [x, y, z] = [0.3, 1.1, 2.3];
  near((at(x + h, y, z)[0] - at(x - h, y, z)[0] + at(x, y + h, z)[1] - at(x, y - h, z)[1]) / (2 * h), 0, 1e-10);
  near(taylorGreen(0, 0, 0, 0.5).p, 1 + (0.25 * 6) / 16, 1e-15);
});
