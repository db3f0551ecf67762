import assert from "node:assert/strict";
import { it } from "node:test";
import type { DeviceSet } from "../../../src/set/index.js";
import type { Stages } from "../../../src/skeleton/plan/plan.js";
import { Executor } from "../../../src/skeleton/run/executor.js";

const executor = (...measuring: boolean[]): Executor => {
  const locals = measuring.map((each) => ({ device: { tuning: { measuring: each } } }));
  return new Executor({ locals } as unknown as DeviceSet, [], {} as ConstructorParameters<typeof Executor>[2]);
};
const stages = (): Stages => ({ containers: [], swaps: [] }) as unknown as Stages;

it("stages are left to tune once, and only where some device measures", async () => {
  assert.equal(executor(false, false).isUntuned(stages()), false);
  const some = executor(false, true);
  const [first, second] = [stages(), stages()];
  assert.equal(some.isUntuned(first), true);
  await some.tune(first, "none");
  assert.deepEqual([some.isUntuned(first), some.isUntuned(second)], [false, true]);
});
