import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { range } from "../../src/device/launch/policy.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f32, f64, i32, sum, view } from "../../src/kernel/declare/params.js";
import { Scalar } from "../../src/set/index.js";
import { eachSet } from "./sets.js";

const total = kernel("total", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => {
  s.add(x[i]);
});
const scale = kernel("scale", { x: view(f64), s: view(f64) }, ({ x, s }, i) => {
  x[i] = x[i] * s[0];
});

await eachSet((name, open) =>
  describe(`scalars on ${name}`, () => {
    it("have a copy on every member, zero at first", async () => {
      const set = await open();
      const s = new Scalar(set, "s", f64);
      assert.equal(s.views.length, set.members.length);
      assert.equal(new Set(s.views.map(({ buffer }) => buffer)).size, set.members.length);
      assert.equal(await s.get(), 0);
      s.set(2.5);
      for (const [n, member] of set.locals.entries()) assert.deepEqual([...(await member.queue(0).read(s.views[n]))], [2.5]);
      assert.equal(await s.get(), 2.5);
      s.free();
      await set.close();
    });

    it("take results of reductions, and feed kernels, without the host", async () => {
      const set = await open();
      const s = new Scalar(set, "s", f64);
      for (const [n, member] of set.locals.entries()) {
        const { device } = member;
        const queue = member.queue(1);
        const x = device.from(f64, [1, 2, 3, 4 + n]);
        queue.submit(device.prepare(total, { x, s: s.views[n] }, range(4)));
        queue.submit(device.prepare(scale, { x, s: s.views[n] }, range(4)));
        assert.deepEqual(
          [...(await queue.read(x))],
          [1, 2, 3, 4 + n].map((v) => v * (10 + n)),
        );
      }
      assert.equal(await s.get(set.locals[0].queue(1)), 10);
      await set.close();
    });

    it("say where they are NaN", async () => {
      const set = await open();
      const rr = new Scalar(set, "rr", f64);
      rr.set(3);
      assert.equal(await rr.getNumber('skeleton "cg", iteration 1'), 3);
      rr.set(NaN);
      assert.ok(Number.isNaN(await rr.get()));
      await assert.rejects(rr.getNumber('skeleton "cg", iteration 12'), {
        name: "IsoformError",
        message: /^skeleton "cg", iteration 12: scalar "rr" is NaN/,
      });
      await set.close();
    });

    it("hold values of their type, and refuse others", async () => {
      const set = await open();
      const n = new Scalar(set, "n", i32),
        x = new Scalar(set, "x", f32);
      n.set(-7);
      x.set(0.1);
      assert.equal(await n.get(), -7);
      assert.equal(await x.get(), Math.fround(0.1));
      assert.throws(() => n.set(0.5), /0\.5, which i32 cannot hold/);
      assert.throws(() => n.set(2 ** 31), /which i32 cannot hold/);
      await set.close();
    });
  }),
);
