import assert from "node:assert/strict";
import { test } from "node:test";
import { f64, sum } from "isoform";
import { dense, type DenseOptions } from "../../src/domain/index.js";
import { skeleton, swap, type SkeletonOptions } from "../../src/skeleton/index.js";
import type { DeviceSet } from "../../src/set/index.js";
import { jsSet, jsSets, noise } from "../domain/sets.js";

/** A decaying wave: a map whose result the stencil reads around each cell, and its sum. */
function wave(set: DeviceSet, grid: DenseOptions, options: SkeletonOptions = {}) {
  const box = dense(set, [8, 6, 14], grid);
  const [u, v, w] = ["u", "v", "w"].map((name) => box.field(name, f64, { fillValue: 1 }));
  const total = box.scalar("total", f64);
  const weigh = box.container("weigh", { u, v }, ({ u, v }, c) => {
    v[c] = 0.5 * u[c] + 0.25 * (c.x - c.z);
  });
  const spread = box.container("spread", { v, w, total: sum(total) }, ({ v, w, total }, c) => {
    w[c] = v.at(c, 1, 0, 0) + v.at(c, -1, 0, 0) - v.at(c, 0, -1, 0) + 0.5 * v.at(c, 0, 0, 1) - v.at(c, 0, 1, -1);
    total.add(w[c]);
  });
  u.fill(noise);
  const plan = skeleton(set, "wave", [weigh, spread, swap(u, w)], { ...options, precision: "strict", temporary: [v] });
  return { box, plan, u, total };
}

test("a map is computed again for neighbours beyond periodic boundaries, as it cannot be where there is a fill value", async () => {
  const results: unknown[] = [];
  for (const set of jsSets)
    for (const fuse of [false, true]) {
      const { box, plan, u, total } = wave(set, { periodic: true }, { fuse, occ: "two-way" });
      await plan.run(3);
      results.push([[...(await u.download())], await total.get()]);
      if (fuse) assert.match(await plan.explain(), /\n {2}weigh \+ spread/);
      plan.free();
      box.free();
    }
  for (const result of results) assert.deepEqual(result, results[0]);
  const { box, plan } = wave(jsSet(1), { periodic: [true, true, false] });
  assert.match(await plan.explain(), /"weigh" would give cells outside the domain values other than 1/);
  box.free();
});

test("the explanation names periodic axes", async () => {
  const explain = async (periodic: DenseOptions["periodic"]) => {
    const { box, plan } = wave(jsSet(2), { periodic });
    const text = await plan.explain();
    box.free();
    return text;
  };
  assert.match(await explain([true, false, true]), /Periodic grids\n {2}the dense grid of 8 x 6 x 14 cells, along x, z\n/);
  assert.doesNotMatch(await explain(false), /Periodic/);
});
