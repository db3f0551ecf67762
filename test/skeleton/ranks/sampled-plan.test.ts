import assert from "node:assert/strict";
import { test } from "node:test";
import { makeSkeleton as heat } from "../../../apps/heat/heat.js";
import { devices } from "../../../src/set/index.js";
import { sampledPlan } from "../../../src/skeleton/sampled-plan.js";
import { patternOn, SETTINGS } from "./patterns.js";

test("a plan from small cubes has the cells and the messages of a larger box", async () => {
  const plan = await sampledPlan({ makeSkeleton: heat }, "js", SETTINGS);
  const set = await devices("js*3");
  try {
    const extents = [100, 90];
    const pattern = await patternOn(heat, set, { ...SETTINGS, size: extents[0], planes: extents[1] });
    assert.deepEqual(pattern.planes, [30, 30, 30]);
    for (const [n, place] of (["first", "inner", "last"] as const).entries())
      for (const task of plan.shared) {
        const { boxes, sends } = pattern.tasks.find(({ name }) => name === task.name)!.parts[n];
        const cells = boxes.reduce((sum, [x, y]) => sum + x * y, 0);
        assert.equal(task.at[place].cells([100, 30]), cells, `${task.name} of the ${place}`);
        assert.deepEqual(
          task.at[place].sends.map(({ step, bytes }) => [n + step, bytes(extents)]),
          sends.map(({ to, bytes }) => [to, bytes]),
        );
      }
  } finally {
    await set.close();
  }
});
