import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULTS as HEAT, Heat } from "../../apps/heat/heat.js";
import { cavity } from "../../apps/lbm/cavity.js";
import { MOVING_WALL, WALL } from "../../apps/lbm/kinds.js";
import { D3Q19 } from "../../apps/lbm/lattice.js";
import { DEFAULTS as POISSON, makePoisson } from "../../apps/poisson/poisson.js";
import { devices } from "../../src/set/index.js";

/* Boxes with another number of planes than cells along the other axes, as studies of scaling have them. */

test("heat in a rectangle has the solution of its steps", async () => {
  const set = await devices("js*2");
  try {
    for (const periodic of [false, true]) {
      const heat = new Heat(set, { ...HEAT, size: 16, planes: 24, periodic });
      await heat.run(20);
      const { discrete, continuous } = await heat.deviation();
      assert.ok(discrete < 1e-12, `${discrete}`);
      assert.ok(continuous < 2e-2, `${continuous}`);
      heat.free();
    }
  } finally {
    await set.close();
  }
});

test("poisson in a box has its stretched solution, to second order", async () => {
  const set = await devices("js");
  try {
    const errors: number[] = [];
    for (const n of [7, 15]) {
      const poisson = await makePoisson(set, { ...POISSON, size: n, planes: 2 * n + 1 });
      assert.ok((await poisson.solve()).converged);
      errors.push((await poisson.errors()).mean);
      poisson.free();
    }
    // Cells of half the size.
    assert.ok(errors[0] / errors[1] > 3.5, errors.join());
  } finally {
    await set.close();
  }
});

test("a cavity has its lid on top, however deep it is", () => {
  const { extents, kind } = cavity({ reynolds: 10, size: 4, planes: 9, lattice: D3Q19 });
  assert.deepEqual(extents, [6, 6, 11]);
  assert.equal(kind(2, 5, 9), MOVING_WALL);
  assert.equal(kind(2, 5, 10), WALL);
  const flat = cavity({ reynolds: 10, size: 4, planes: 9 });
  assert.deepEqual(flat.extents, [6, 11]);
  assert.equal(flat.kind(2, 10, 0), MOVING_WALL);
});
