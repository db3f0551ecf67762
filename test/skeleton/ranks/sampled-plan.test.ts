import assert from "node:assert/strict";
import { test } from "node:test";
import { makeSkeleton as heat } from "../../../apps/heat/heat.js";
import { makeSkeleton as lbm } from "../../../apps/lbm/cavity.js";
import { makeSkeleton as poisson } from "../../../apps/poisson/poisson.js";
import { devices } from "../../../src/set/index.js";
import { cellsIn } from "../../../src/skeleton/ranks/rank-plan.js";
import { sampledPlan } from "../../../src/skeleton/sampled-plan.js";
import { patternOn, SETTINGS } from "./patterns.js";

const PLACES = ["first", "inner", "last"] as const;

test("a plan from small cubes has the cells and the messages of a larger box", async () => {
  const plan = await sampledPlan({ makeSkeleton: heat }, "js", SETTINGS);
  const set = await devices("js*3");
  try {
    const extents = [100, 90];
    const pattern = await patternOn(heat, set, { ...SETTINGS, size: extents[0], planes: extents[1] });
    assert.deepEqual(pattern.planes, [30, 30, 30]);
    for (const [n, z] of PLACES.entries())
      for (const task of plan.shared.z!) {
        const { boxes, sends } = pattern.tasks.find(({ name }) => name === task.name)!.parts[n];
        const cells = boxes.reduce((sum, [x, y]) => sum + x * y, 0);
        const { sends: planned, cells: count } = task.at({ y: "first", z });
        assert.equal(count([100, 30]), cells, `${task.name} of the ${z}`);
        assert.deepEqual(
          planned.map(({ step: [y, up], bytes }) => [y, n + up, bytes([100, 30])]),
          sends.map(({ to, bytes }) => [0, to, bytes]),
        );
      }
  } finally {
    await set.close();
  }
});

for (const [name, makeSkeleton, layout] of [
  ["lbm", lbm, "aos"],
  ["poisson", poisson, "soa"],
] as const)
  test(`a plan of ${name} (${layout}) for cuts along y and z has the cells and the messages of a larger box`, async () => {
    const settings = { ...SETTINGS, layout, dimension: 3 as const };
    const plan = await sampledPlan({ makeSkeleton }, "js", { ...settings, split: "yz" });
    for (const [division, split] of [
      [{ y: 1, z: 3 }, "z"],
      [{ y: 3, z: 1 }, "y"],
      [{ y: 3, z: 3 }, "yz"],
    ] as const) {
      const set = await devices(`js*${division.y * division.z}`);
      try {
        const [walls] = plan.margins;
        const pattern = await patternOn(makeSkeleton, set, { ...settings, split, size: 64, planes: 51 });
        assert.deepEqual(pattern.division, division);
        assert.equal(pattern.tasks.length, plan.shared[split]!.length);
        for (const [k, z] of PLACES.entries())
          for (const [j, y] of PLACES.entries()) {
            if ((division.y === 1 && j > 0) || (division.z === 1 && k > 0)) continue;
            const member = j + division.y * k;
            const own = [64 + walls, pattern.rows[member] ?? 64 + walls, pattern.planes[member]];
            for (const [n, task] of plan.shared[split]!.entries()) {
              const { name: title, parts } = pattern.tasks[n];
              const where = `${title} at ${y} along y, ${z} along z, ${split}`;
              const { sends, cells } = task.at({ y, z });
              assert.equal(task.name, title);
              if (task.kind !== "collect") assert.equal(cells(own), cellsIn(parts[member].boxes), where);
              assert.deepEqual(
                sends.map(({ step: [dy, dz], bytes }) => [member + dy + division.y * dz, bytes(own)]),
                parts[member].sends.map(({ to, bytes }) => [to, bytes]),
                where,
              );
            }
          }
      } finally {
        await set.close();
      }
    }
  });
