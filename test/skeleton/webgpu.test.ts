import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { WebGpuDevice } from "../../src/device/webgpu/webgpu-device.js";
import { dense } from "../../src/domain/index.js";
import { f32, sum } from "../../src/index.js";
import { devices, type DeviceSet } from "../../src/set/index.js";
import { OCC_LEVELS, skeleton, type SkeletonOptions } from "../../src/skeleton/index.js";
import { jsSet, noise } from "../domain/sets.js";
import { openWebGpu } from "../device/webgpu/opened.js";

/** Submissions of a WebGPU device meanwhile, what checks results at the end included. */
async function submitted({ locals: [{ device }] }: DeviceSet, work: () => Promise<unknown>): Promise<number> {
  const commands = (device as WebGpuDevice).gpu?.commands;
  const before = commands?.submissions ?? 0;
  await work();
  return (commands?.submissions ?? 0) - before;
}

/** Some steps of a relaxation in f32, with a norm that the next step reads. */
async function relax(set: DeviceSet, options: SkeletonOptions) {
  const grid = dense(set, [7, 6, 20]);
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f32));
  const norm = grid.scalar("norm", f32);
  const smooth = grid.container("smooth", { u, v }, ({ u, v }, c) => {
    v[c] =
      0.125 *
      (2 * u[c] + u.at(c, 1, 0, 0) + u.at(c, -1, 0, 0) + u.at(c, 0, 1, 0) + u.at(c, 0, -1, 0) + u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1));
  });
  const measure = grid.container("measure", { v, norm: sum(norm) }, ({ v, norm }, c) => norm.add(v[c] * v[c]));
  const scale = grid.container("scale", { u, v, norm }, ({ u, v, norm }, c) => {
    u[c] = v[c] / Math.sqrt(norm);
  });
  u.fill((i, j, k) => Math.fround(noise(i, j, k)));
  const steps = skeleton(set, "relax", [smooth, measure, scale], { precision: "strict", ...options });
  await steps.run(2);
  const counts = [await submitted(set, () => steps.run(3)), await submitted(set, () => steps.run(8))];
  steps.submit(5);
  const result = { u: await u.download(), norm: await norm.get() };
  steps.free();
  grid.free();
  // What five more iterations take.
  return { result, more: counts[1] - counts[0] };
}

const { device, skip } = await openWebGpu();

describe("skeletons on webgpu", { skip }, () => {
  after(() => device?.close());

  for (const members of [1, 3])
    it(`give the bits of js on ${members} members, several iterations in one submission`, async () => {
      const set = await devices(Array<WebGpuDevice>(members).fill(device));
      for (const occ of members === 1 ? (["none"] as const) : OCC_LEVELS) {
        const expected = await relax(jsSet(1), { occ });
        const { result, more } = await relax(set, { occ });
        assert.deepEqual(result, expected.result, `occ ${occ}`);
        assert.ok(more <= 1, `occ ${occ}: ${more} more`);
        const fast = await relax(set, { occ, precision: "fast" });
        assert.ok(Math.abs(fast.result.norm / expected.result.norm - 1) < 1e-5, `occ ${occ}, fast: ${fast.result.norm}`);
        assert.ok(fast.more <= 1, `occ ${occ}, fast: ${fast.more} more`);
      }
    });
});
