import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64, kernel, open, range, sum, view } from "isoform";
import { devices } from "isoform/set";
import { tested } from "../devices.js";

const total = kernel("total", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => {
  s.add(Math.sqrt(x[i]));
});
const values = Float64Array.from({ length: 100_003 }, (_, n) => n % 977);

for (const name of ["js", "wasm", "native"])
  describe(`threads of ${name}`, { skip: !tested(name) }, () => {
    it("are as many as are asked for, and change no bit of strict mode", async () => {
      const results = [];
      for (const threads of [1, 2, 3]) {
        const device = await open(name, { threads });
        assert.equal(device.capabilities.parallelism, threads);
        const x = device.from(f64, values);
        const launch = device.prepare(total, { x }, range(values.length), { precision: "strict" });
        device.queue.submit(launch);
        results.push((await device.queue.results(launch)).s);
        assert.match(launch.remarks.join("\n"), new RegExp(`^(threads|workers): ${threads}$`, "m"));
        await device.close();
      }
      assert.equal(new Set(results).size, 1);
    });

    it("are those of each device in a set", async () => {
      const set = await devices(`${name}*2`, { threads: 1 });
      assert.deepEqual(
        set.locals.map(({ device }) => device.capabilities.parallelism),
        [1, 1],
      );
      await set.close();
    });

    for (const threads of [0, -1, 1.5, 1025, NaN, "2"])
      it(`cannot be ${JSON.stringify(threads)}`, async () => {
        await assert.rejects(open(name, { threads: threads as number }), {
          name: "IsoformError",
          message: `threads is ${JSON.stringify(threads)}: it needs a whole number from 1 to 1024`,
        });
      });
  });

it("devices without threads of the host refuse them", async () => {
  await assert.rejects(open("js-debug", { threads: 2 }), {
    name: "DeviceError",
    message: 'device "js-debug": it has no threads to set (leave threads out, or open js, wasm or native)',
  });
});
