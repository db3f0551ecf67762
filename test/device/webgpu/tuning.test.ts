import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { open } from "../../../src/device/open.js";
import { range } from "../../../src/device/launch/policy.js";
import { tune } from "../../../src/device/tuning/tune.js";
import { kernel } from "../../../src/kernel/declare/kernel.js";
import { f32, i32, sum, view } from "../../../src/kernel/declare/params.js";
import { openWebGpu } from "./opened.js";

const line = kernel("line", { y: view(i32), step: i32 }, ({ y, step }, i) => {
  y[i] += step * i;
});
const plane = kernel("plane", { y: view(i32, 2) }, ({ y }, i, j) => {
  y[i][j] += 1000 * i + j;
});
const box = kernel("box", { y: view(i32, 3) }, ({ y }, i, j, k) => {
  y[i][j][k] += 10000 * i + 100 * j + k;
});
const total = kernel("total", { y: view(f32), s: sum(f32) }, ({ y, s }, i) => {
  s.add(y[i]);
});

const { device, skip } = await openWebGpu();

describe("workgroups on webgpu", { skip }, () => {
  after(() => device?.close());

  for (const threads of [64, 128, 256])
    it(`of ${threads} invocations give what js gives`, async () => {
      const js = await open("js");
      const read = async (on: typeof js, options: object): Promise<unknown[]> => {
        const [a, b, c] = [on.array(i32, 1001), on.array(i32, [37, 131]), on.array(i32, [5, 9, 70])];
        const launches = [
          on.prepare(line, { y: a, step: 3 }, range(1001), options),
          on.prepare(plane, { y: b }, range([1, 37], [0, 131]), options),
          on.prepare(box, { y: c }, range(5, 9, 70), options),
        ];
        for (const launch of launches) on.queue.submit(launch);
        if (on !== js)
          for (const launch of launches)
            assert.match(launch.remarks.join("\n"), new RegExp(`workgroups of (${threads} x 1|64 x ${threads / 64}) x 1`));
        return Promise.all([a, b, c].map((view) => on.queue.read(view)));
      };
      assert.deepEqual(await read(device!, { tuning: { threads } }), await read(js, {}));
      await js.close();
    });

  it("are measured where nothing is folded", async () => {
    const y = device!.array(i32, 1 << 16);
    const launch = device!.prepare(line, { y, step: 1 }, range(1 << 16));
    assert.deepEqual(launch.tuning?.tunables, { threads: [64, 128, 256] });
    const found = await tune(device!, launch);
    assert.ok(found && found.seconds <= found.baseline);
    const folding = device!.prepare(total, { y: device!.array(f32, 100) }, range(100));
    assert.deepEqual(folding.tuning?.tunables, {});
    assert.throws(
      () => device!.prepare(total, { y: device!.array(f32, 100) }, range(100), { tuning: { threads: 64 } }),
      /kernel "total" on webgpu, tuning: /,
    );
  });
});
