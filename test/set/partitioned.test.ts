import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { range } from "../../src/device/launch/policy.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f64, i32, view } from "../../src/kernel/declare/params.js";
import { u8 } from "../../src/kernel/declare/storage.js";
import { Partitioned } from "../../src/set/index.js";
import { eachSet } from "./sets.js";

const addOne = kernel("addOne", { x: view(f64) }, ({ x }, i) => {
  x[i] = x[i] + 1;
});

await eachSet((name, open) =>
  describe(`partitioned arrays on ${name}`, () => {
    it("are whole for the host, and in pieces for the members (figure 2 of the Neon paper)", async () => {
      const set = await open();
      const counts = set.members.map((_, n) => 4 - n);
      const data = new Partitioned(set, f64, counts);
      assert.equal(
        data.host.length,
        counts.reduce((a, b) => a + b),
      );
      data.host.forEach((_, i) => (data.host[i] = 33 + i));
      data.upload();
      data.host.fill(0);
      for (const [n, member] of set.locals.entries()) {
        const launch = member.device.prepare(addOne, { x: data.views[n] }, range(counts[n]));
        member.queue(0).submit(launch);
      }
      assert.equal(await data.download(), data.host);
      assert.deepEqual(
        [...data.host],
        [...data.host.keys()].map((i) => 34 + i),
      );
      for (const [n] of set.locals.entries())
        assert.deepEqual(
          [...data.piece(n)],
          Array.from({ length: counts[n] }, (_, i) => 34 + data.offsets[n] + i),
        );
      data.piece(0)[0] = -1;
      assert.equal(data.host[0], -1);
      data.free();
      await set.close();
    });

    it("may have empty pieces, and elements of any type", async () => {
      const set = await open();
      const counts = set.members.map((_, n) => (n === 0 ? 5 : 0));
      for (const type of [i32, u8]) {
        const data = new Partitioned(set, type, counts);
        data.host.set([1, 2, 3, 4, 250]);
        data.upload(1);
        data.host.fill(0);
        assert.deepEqual([...(await data.download(1))], [1, 2, 3, 4, 250]);
      }
      await set.close();
    });

    it("need a count for each member", async () => {
      const set = await open();
      const members = set.members.length;
      assert.throws(() => new Partitioned(set, f64, Array<number>(members + 1).fill(2)), {
        name: "LaunchError",
        message: `${members + 1} pieces for the ${members} members of ${set.name}: give one count for each`,
      });
      assert.throws(() => new Partitioned(set, f64, Array<number>(members).fill(-1)), /shape \[-1\]/);
      await set.close();
    });
  }),
);
