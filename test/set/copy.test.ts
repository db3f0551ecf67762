import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { range } from "../../src/device/launch/policy.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f64, view } from "../../src/kernel/declare/params.js";
import { copyBetween } from "../../src/set/index.js";
import { eachSet } from "./sets.js";

const grow = kernel("grow", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
  y[i] = x[i] + 1;
});

await eachSet((name, open) =>
  describe(`copies on ${name}`, () => {
    it("go between any two members, ordered in the source's stream and behind its events elsewhere", async () => {
      const set = await open();
      const n = 5000;
      const last = set.members.length - 1;
      const arrays = set.locals.map(({ device }) => [device.array(f64, n), device.array(f64, n)]);
      const launches = set.locals.map(({ device }, m) => device.prepare(grow, { x: arrays[m][0], y: arrays[m][1] }, range(n)));
      // A token goes round the members, which all add one.
      for (let round = 0; round < 3; round++)
        for (const [m, member] of set.locals.entries()) {
          const next = m === last ? 0 : m + 1;
          const queue = member.queue(1);
          queue.submit(launches[m]);
          copyBetween(arrays[m][1], arrays[next][0], queue, set.locals[next].queue(0));
          set.locals[next].queue(1).wait(queue.record());
        }
      const result = await set.locals[0].queue(1).read(arrays[0][0]);
      assert.deepEqual([...new Set(result)], [3 * set.members.length]);
      await set.close();
    });

    it("take pieces of rows and planes", async () => {
      const set = await open();
      const [from, to] = [set.locals[0], set.locals.at(-1)!];
      const values = Float64Array.from({ length: 60 }, (_, i) => i);
      const source = from.device.from(f64, values, [3, 4, 5]);
      const target = to.device.array(f64, [3, 4, 5]);
      const [queue, targetQueue] = [from.queue(0), to.queue(0)];
      copyBetween(source.slice([1, 2]), target.slice([2, 3]), queue, targetQueue);
      targetQueue.wait(queue.record());
      const expected = new Float64Array(60);
      expected.set(values.slice(20, 40), 40);
      assert.deepEqual(await targetQueue.read(target), expected);
      await set.close();
    });

    it("are refused between views that differ in shape or type", async () => {
      const set = await open();
      const [from, to] = [set.locals[0], set.locals.at(-1)!];
      const source = from.device.array(f64, 4);
      const copy = (shape: number) => copyBetween(source, to.device.array(f64, shape), from.queue(0), to.queue(0));
      assert.throws(() => copy(5), { name: "LaunchError", message: /copy from f64 \[4\] to f64 \[5\]: shapes and types must be equal/ });
      await set.close();
    });
  }),
);
