import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHammerAitoff, hammerAitoff } from "../../src/draw/projection.js";

const close = (found: readonly number[] | undefined, expected: readonly number[], by = 1e-12): void => {
  assert.ok(found && expected.every((value, n) => Math.abs(found[n] - value) < by), `${found?.join(" ")} and ${expected.join(" ")}`);
};

test("middle, edge, poles and a quarter of the equator lie where Hammer puts them", () => {
  close(hammerAitoff(0, 0), [0, 0]);
  close(hammerAitoff(Math.PI, 0), [2, 0]);
  close(hammerAitoff(1, Math.PI / 2), [0, 1]);
  close(hammerAitoff(-1, -Math.PI / 2), [0, -1]);
  close(hammerAitoff(Math.PI / 2, 0), [Math.SQRT2 / Math.sqrt(1 + Math.SQRT1_2), 0]);
});

test("the inverse gives the direction back; beyond the ellipse there is none", () => {
  for (let longitude = -3.1; longitude < 3.1; longitude += 0.31)
    for (let latitude = -1.5; latitude < 1.5; latitude += 0.15)
      close(fromHammerAitoff(...hammerAitoff(longitude, latitude)), [longitude, latitude], 1e-9);
  assert.equal(fromHammerAitoff(0, 1.001), undefined);
  assert.equal(fromHammerAitoff(-2.001, 0), undefined);
  assert.equal(fromHammerAitoff(1.5, 0.7), undefined);
  assert.ok(fromHammerAitoff(1.5, 0.66));
});

test("a unit of area is two steradians everywhere", () => {
  const step = 1e-5;
  for (let longitude = -3; longitude <= 3; longitude += 0.5)
    for (let latitude = -1.4; latitude <= 1.4; latitude += 0.2) {
      const [x, y] = hammerAitoff(longitude, latitude);
      const [xl, yl] = hammerAitoff(longitude + step, latitude);
      const [xb, yb] = hammerAitoff(longitude, latitude + step);
      const area = ((xl - x) * (yb - y) - (xb - x) * (yl - y)) / (step * step);
      assert.ok(Math.abs((2 * area) / Math.cos(latitude) - 1) < 1e-3, `${longitude} ${latitude}: ${area}`);
    }
});
