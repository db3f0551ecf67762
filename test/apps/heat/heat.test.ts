import assert from "node:assert/strict";
import { test } from "node:test";
import { LaunchError } from "isoform";
import { DEFAULTS, Heat, type HeatSettings } from "../../../apps/heat/heat.js";
import { GRID_KINDS } from "isoform/grid";
import { OCC_LEVELS } from "../../../src/skeleton/index.js";
import { jsSet, onEachBackend } from "../../domain/sets.js";

const SMALL: HeatSettings = { ...DEFAULTS, size: 23, precision: "strict" };

async function after(steps: number, set = jsSet(1), settings: Partial<HeatSettings> = {}) {
  const heat = new Heat(set, { ...SMALL, ...settings });
  await heat.run(steps);
  const result = { values: await heat.u.download(), ...(await heat.deviation()) };
  heat.free();
  return result;
}

test("follows the exact solution of its steps", async () => {
  for (const periodic of [false, true])
    for (const ratio of [0.05, 0.25]) {
      const { discrete, time } = await after(200, jsSet(1), { ratio, periodic });
      assert.ok(discrete < 1e-12, `${discrete}`);
      assert.ok(Math.abs(time - (200 * ratio) / (periodic ? 23 : 24) ** 2) < 1e-15);
    }
});

test("comes nearer to the equation with the square of the cell size", async () => {
  // One time, reached by steps that shrink with the square of the cell size.
  const errors = await Promise.all([15, 31, 63].map((size, n) => after(40 * 4 ** n, jsSet(1), { size }).then((r) => r.continuous)));
  const slopes = errors.slice(1).map((error, n) => Math.log2(errors[n] / error));
  for (const slope of slopes) assert.ok(Math.abs(slope - 2) < 0.05, `slope ${slope} of ${errors}`);
});

await onEachBackend("heat has the same bits", ({ backend, all, of }) => {
  const expected = after(5, jsSet(1), { size: 57 });
  for (const set of backend === "js" ? all : [of(3)])
    test(set.name, async () => {
      const options = [...OCC_LEVELS.map((occ) => ({ occ })), ...GRID_KINDS.map((grid) => ({ grid }))];
      for (const option of options) assert.deepEqual(await after(5, set, { size: 57, ...option }), await expected, JSON.stringify(option));
    });
});

await onEachBackend("heat without ends has the same bits", ({ backend, all, of }) => {
  const settings = { size: 56, periodic: true };
  const expected = after(5, jsSet(1), settings);
  for (const set of backend === "js" ? all : [of(2), of(3)])
    test(set.name, async () => {
      for (const grid of GRID_KINDS) assert.deepEqual(await after(5, set, { ...settings, grid }), await expected, grid);
    });
});

test("refuses steps that are not stable", () => {
  assert.throws(() => new Heat(jsSet(1), { ...SMALL, ratio: 0.26 }), LaunchError);
});
