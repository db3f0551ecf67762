import assert from "node:assert/strict";
import { test } from "node:test";
import { devices, type DeviceSet } from "../../src/set/index.js";
import { OCC_LEVELS, skeleton, type SkeletonOptions } from "../../src/skeleton/index.js";
import { tested } from "../devices.js";
import { sample } from "../random/share.js";
import { jsSet, noise, onEachBackend } from "../domain/sets.js";
import { poisson } from "./poisson.js";

async function solve(set: DeviceSet, iterations: number, options: SkeletonOptions) {
  const { x, rr, start, steps, grid } = poisson(set);
  await start();
  const cg = skeleton(set, "cg", steps, { precision: "strict", ...options });
  await cg.run(iterations);
  const result = { x: await x.download(), rr: await rr.get() };
  cg.free();
  grid.free();
  return result;
}

const PLANS: readonly SkeletonOptions[] = [{ fuse: false }, { fuse: true }, { fuse: false, unroll: 5 }, { fuse: true, unroll: 2 }];

await onEachBackend("conjugate gradients have the same bits", ({ backend, some, of }) => {
  const plain = solve(of(1), 12, { occ: "none", fuse: false });
  for (const set of some(backend === "js" ? [1, 3, 7] : [3]).map(of))
    for (const occ of sample(OCC_LEVELS))
      test(`${set.name}, OCC ${occ}`, async () => {
        for (const options of backend === "js" ? PLANS : PLANS.slice(-1))
          assert.deepEqual(await solve(set, 12, { occ, ...options }), await plain, JSON.stringify(options));
      });
});

for (const spec of ["cuda:0", "cuda:0*3", "cuda:*"].filter(tested)) {
  const gpus = await devices(spec).catch((error: Error) => error);
  const skip = gpus instanceof Error ? gpus.message : false;
  test(`conjugate gradients on ${spec} have the bits of those on one CPU`, { skip }, async () => {
    const set = gpus as DeviceSet;
    const plain = await solve(jsSet(1), 12, { occ: "none", fuse: false });
    for (const occ of OCC_LEVELS)
      for (const options of PLANS) assert.deepEqual(await solve(set, 12, { occ, ...options }), plain, `${occ} ${JSON.stringify(options)}`);
    const { start, steps, rr } = poisson(set);
    await start();
    const cg = skeleton(set, "cg", steps, { occ: "auto", precision: "strict" });
    await cg.run(12, { trace: true });
    assert.equal(await rr.get(), plain.rr);
    assert.match(await cg.timeline(), /\nmeasured: /);
    cg.free();
    await set.close();
  });
}

test("conjugate gradients converge, and stop by the residual", async () => {
  const { start, steps, rr, x, s, p, grid } = poisson(jsSet(3));
  await start();
  const cg = skeleton(grid.set, "cg", steps, { occ: "two-way" });
  const { iterations, stopped } = await cg.run(1000, { scalar: rr, until: (value) => value < 1e-20, every: 7 });
  assert.ok(stopped && iterations < 300 && iterations % 7 === 0, `${iterations}`);
  p.upload(await x.download());
  await grid.run(steps[0]);
  const residuals = (await s.download()).map((value, n) => {
    const [i, j, k] = [n % 9, Math.floor(n / 9) % 5, Math.floor(n / 45)];
    return Math.abs(value - noise(i, j, k));
  });
  assert.ok(Math.max(...residuals) < 1e-9);
});
