import assert from "node:assert/strict";
import test from "node:test";
import { dense } from "../../src/domain/index.js";
import { f64 } from "../../src/index.js";
import type { DeviceSet } from "../../src/set/index.js";
import { skeleton, swap, type SkeletonOptions } from "../../src/skeleton/index.js";
import { jsSets, noise } from "../domain/sets.js";

/** A relaxation on a grid of the set; whoever asks frees it. */
function relaxation(set: DeviceSet, options?: SkeletonOptions) {
  const grid = dense(set, [6, 12]);
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f64));
  const smooth = grid.container("smooth", { u, v }, ({ u, v }, c) => {
    v[c] = 0.25 * (u.at(c, 1, 0) + u.at(c, -1, 0) + u.at(c, 0, 1) + u.at(c, 0, -1));
  });
  u.fill((x, y) => noise(x, y, 0));
  return { grid, u, plan: skeleton(set, "relax", [smooth, swap(u, v)], options) };
}

for (const set of jsSets)
  test(`submitted iterations are those that run makes, on ${set.name}`, async () => {
    const [submitted, run] = [relaxation(set), relaxation(set)];
    submitted.plan.submit(3);
    submitted.plan.submit(0);
    submitted.plan.submit(4);
    await run.plan.run(7);
    assert.deepEqual(await submitted.u.download(), await run.u.download());
    for (const { plan, grid } of [submitted, run]) {
      plan.free();
      grid.free();
    }
  });

for (const set of jsSets)
  test(`a signal ends a run after whole iterations, and the next run goes on with them, on ${set.name}`, async () => {
    const [ended, whole] = [relaxation(set), relaxation(set)];
    const controller = new AbortController();
    const reason = new Error("enough");
    const running = ended.plan.run(1e7, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 20);
    await assert.rejects(running, reason);
    const done = ended.plan.iteration;
    assert.ok(done > 0 && done < 1e7, `${done} iterations`);
    await assert.rejects(ended.plan.run(1, { signal: controller.signal }), reason);
    await ended.plan.run(2, { signal: new AbortController().signal });
    await whole.plan.run(done + 2);
    assert.equal(ended.plan.iteration, done + 2);
    assert.deepEqual(await ended.u.download(), await whole.u.download());
    await assert.rejects(ended.plan.run(1, { signal: "stop" as never }), /signal is a string; give the signal of an AbortController/);
    for (const { plan, grid } of [ended, whole]) {
      plan.free();
      grid.free();
    }
  });

test("what is left to measurement has to be measured before", async () => {
  const set = jsSets.find(({ members }) => members.length > 1)!;
  const { plan, grid } = relaxation(set, { occ: "auto" });
  assert.throws(() => plan.submit(1), /skeleton "relax": occ is "auto" and not chosen yet; run an iteration/);
  await plan.run(1);
  plan.submit(1);
  assert.throws(() => plan.submit(-1), /-1 iterations/);
  plan.free();
  grid.free();
});
