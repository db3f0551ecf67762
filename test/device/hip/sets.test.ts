import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { cg } from "../../../bench/grid-problems.js";
import { dense, type DenseOptions } from "../../../src/domain/index.js";
import { f64 } from "../../../src/index.js";
import { devices } from "../../../src/set/index.js";
import { skeleton, type SkeletonOptions } from "../../../src/skeleton/index.js";
import { fakeHip } from "./fake.js";

const made = await fakeHip();

/** Some turns of conjugate gradients: stencils over halos, dot products of all members, scalars. */
async function solve(spec: string, options: SkeletonOptions, box: DenseOptions = {}, measuring = false): Promise<Float64Array> {
  const set = await devices(spec);
  const grid = dense(set, [8, 6, 7], box);
  const { steps, result, temporary } = await cg(grid);
  const plan = skeleton(set, "cg", steps, { ...options, temporary });
  await plan.run(2);
  for (const { device } of set.locals) device.tuning.measuring = measuring;
  await plan.run(2);
  const x = Float64Array.from(await result.download());
  plan.free();
  await set.close();
  return x;
}

describe("plans over several GPUs of AMD", { skip: typeof made === "string" && made }, () => {
  if (typeof made === "string") return;
  const fake = made;
  afterEach(() => fake.forget());

  for (const spec of ["hip:0,hip:1", "hip:0*3", "hip:0,wasm"])
    for (const occ of ["none", "two-way"] as const)
      it(`gives the bits of one device in strict mode: ${spec}, occ ${occ}`, async () => {
        const options = { precision: "strict", occ } as const;
        assert.deepEqual(await solve(spec, options), await solve("js", options));
        assert.equal(fake.complaints(), "");
      });

  for (const [spec, periodic] of [
    ["hip:0,hip:1", [false, false, false]],
    ["hip:0*3", [false, false, false]],
    ["hip:0,hip:1", [true, false, true]],
    ["hip:0*3", [true, false, true]],
  ] as const)
    it(`stores in the halos of neighbours while it computes: ${spec}${periodic[2] ? ", all around" : ""}`, async () => {
      const set = await devices(spec);
      const { steps, temporary } = await cg(dense(set, [8, 6, 7], { periodic }));
      const plan = skeleton(set, "cg", steps, { temporary, occ: "in-kernel", precision: "fast" });
      assert.match(await plan.explain(), /what neighbours read is stored there, too/);
      assert.deepEqual((await plan.explain()).match(/^ {2}halo .* -> /gm), null, "no halos are copied in the steady state");
      plan.free();
      await set.close();
      const found = await solve(spec, { occ: "in-kernel", precision: "fast" }, { periodic });
      const wanted = await solve("js", {}, { periodic });
      found.forEach((value, n) =>
        assert.ok(Math.abs(value - wanted[n]) < 1e-12 * Math.abs(wanted[n]), `${value} at ${n}, not ${wanted[n]}`),
      );
      assert.equal(fake.complaints(), "");
    });

  it("stores in the halos of neighbours what only some cells write, and what was there before", async () => {
    const found: Float64Array[] = [];
    for (const spec of ["js", "hip:0*3"]) {
      const set = await devices(spec);
      const grid = dense(set, [9, 5, 6]);
      const [u, v] = ["u", "v"].map((name) => grid.field(name, f64));
      u.fill((x, y, z) => 1 + x + 10 * y + 100 * z);
      const some = grid.container("some", { u }, ({ u }, c) => {
        if ((c.x + c.y + c.z) % 2 === 0) u[c] = 2 * u[c];
      });
      const around = grid.container("around", { u, v }, ({ u, v }, c) => void (v[c] = u.at(c, 0, 0, -1) + u.at(c, 0, 0, 1)));
      const plan = skeleton(set, "checkers", [some, around], { occ: "in-kernel", precision: "fast", fuse: false });
      if (spec !== "js") assert.match(await plan.explain(), /what neighbours read is stored there, too/);
      await plan.run(3);
      found.push(Float64Array.from(await v.download()));
      plan.free();
      await set.close();
    }
    assert.deepEqual(found[1], found[0]);
    assert.equal(fake.complaints(), "");
  });

  for (const spec of ["hip:0", "hip:0,hip:1"])
    it(`sweeps forward and backward: ${spec}`, async () => {
      const back = { sweepOrder: "alternating", occ: "in-kernel", unroll: 2 } as const;
      const strict = { ...back, precision: "strict" } as const;
      assert.deepEqual(await solve(spec, strict), await solve("js", { precision: "strict" }));
      const [found, wanted] = [await solve(spec, { ...back, precision: "fast" }), await solve("js", {})];
      found.forEach((value, n) =>
        assert.ok(Math.abs(value - wanted[n]) < 1e-12 * Math.abs(wanted[n]), `${value} at ${n}, not ${wanted[n]}`),
      );
      assert.equal(fake.complaints(), "");
    });

  it("measures how to run what stores in the halos of neighbours, and leaves them as they were", async () => {
    const options = { occ: "in-kernel", precision: "fast" } as const;
    const [found, wanted] = [await solve("hip:0,hip:1", options, {}, true), await solve("js", {})];
    found.forEach((value, n) => assert.ok(Math.abs(value - wanted[n]) < 1e-12 * Math.abs(wanted[n]), `${value} at ${n}, not ${wanted[n]}`));
    assert.equal(fake.complaints(), "");
  });

  for (const reached of [true, false])
    it(`folds in fast mode, on GPUs that ${reached ? "" : "do not "}reach each other`, async () => {
      fake.peers(reached);
      const [found, wanted] = [await solve("hip:0,hip:1", { occ: "two-way" }), await solve("js", {})];
      found.forEach((value, n) =>
        assert.ok(Math.abs(value - wanted[n]) < 1e-12 * Math.abs(wanted[n]), `${value} at ${n}, not ${wanted[n]}`),
      );
      assert.equal(fake.complaints(), "");
      fake.peers(true);
    });
});
