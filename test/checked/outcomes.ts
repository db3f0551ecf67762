import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { f32, i32, kernel, KernelError, open, range, table, view, type Device, type Precision } from "../../src/index.js";
import { dense } from "../../src/domain/index.js";
import { devices } from "../../src/set/index.js";
import { skeleton } from "../../src/skeleton/index.js";
import { failing, type Failing } from "./cases.js";

/** What a launch ends with, without the device's name; undefined where nothing was wrong. */
async function outcome({ run }: Failing, device: Device, precision: Precision): Promise<string | undefined> {
  try {
    await run(device, { precision, checked: true });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof KernelError, String(error));
    return error.message.replaceAll(`on ${device.name}`, "on a device");
  }
}

const gather = kernel("gather", { at: view(i32), x: view(f32), y: view(f32) }, ({ at, x, y }, i) => {
  y[i] = x[at[i]];
});
const OUTSIDE = /reads x\[at\[i\]\]: index 900 is outside axis 0 of "x", which has extent 500 \(element \[77\]/;

const N = 500;
const good = () => Array.from({ length: N }, (_, k) => k);
const bad = () => good().map((k) => (k === 77 ? 900 : k));

/** Tests of a device whose failures are told where somebody waits; `check` throws where something else is wrong. */
export function describeChecked(title: string, device: Device, check: () => void = () => {}): void {
  describe(title, async () => {
    const js = await open("js");
    after(() => device.close());
    for (const precision of ["strict", "fast"] as const)
      for (const one of failing)
        it(`says what js says: ${one.title}, ${precision}`, async () => {
          const expected = await outcome(one, js, precision);
          assert.ok(expected);
          assert.equal(await outcome(one, device, precision), expected);
          check();
        });

    const arrays = () => ({ at: device.from(i32, good()), x: device.from(f32, good()), y: device.array(f32, N) });
    const prepared = (args: ReturnType<typeof arrays>) => device.prepare(gather, args, range(N), { checked: true });

    it("tells it where the host waits, and once; the launch runs again", async () => {
      const args = arrays();
      const launch = prepared(args);
      const waits: Record<string, () => Promise<unknown>> = {
        finish: () => device.queue.finish(),
        read: () => device.queue.read(args.y),
        results: () => device.queue.results(launch),
      };
      for (const [name, wait] of Object.entries(waits)) {
        device.queue.write(args.at, bad());
        device.queue.submit(launch);
        await assert.rejects(wait(), OUTSIDE, name);
        device.queue.write(args.at, good());
        device.queue.submit(launch);
        await wait();
        assert.deepEqual([...(await device.queue.read(args.y))], good());
      }
      launch.free();
      check();
    });

    it("tells it at an event behind it", async () => {
      const args = arrays();
      const launch = prepared(args);
      const before = device.queue.record();
      device.queue.write(args.at, bad());
      device.queue.submit(launch);
      const behind = device.queue.record();
      await before.done();
      await assert.rejects(behind.done(), OUTSIDE);
      await device.queue.finish();
      if (device.backend !== "webgpu") {
        device.queue.submit(launch);
        const event = device.queue.record();
        assert.throws(() => event.block(), OUTSIDE);
        await device.queue.finish();
      }
      check();
    });

    it("tells it of the second of two launches, and of one that was freed meanwhile", async () => {
      const [right, args] = [arrays(), arrays()];
      device.queue.write(args.at, bad());
      const launches = [right, args].map(prepared);
      for (const launch of launches) device.queue.submit(launch);
      for (const launch of launches) launch.free();
      const other = prepared(right);
      device.queue.submit(other);
      await assert.rejects(device.queue.finish(), OUTSIDE);
      device.queue.submit(other);
      await device.queue.finish();
      other.free();
      check();
    });

    it("tells it of a graph, each time that it fails", async () => {
      const args = arrays();
      const launches = [prepared(arrays()), prepared(args)];
      const graph = device.queue.capture(() => {
        for (const launch of launches) device.queue.submit(launch);
      });
      for (const data of [good, bad, good, bad]) {
        device.queue.write(args.at, data());
        device.queue.submit(graph);
        if (data === bad) await assert.rejects(device.queue.finish(), OUTSIDE);
        else await device.queue.finish();
      }
      graph.free();
      check();
    });

    it("tells it of a skeleton over two members, run and submitted", async () => {
      const set = await devices([device, device]);
      const grid = dense(set, [6, 5, 16]);
      const [u, v] = [grid.field("u", i32), grid.field("v", f32)];
      const weights = [1, 2, 3, 4];
      const weigh = grid.container("weigh", { u, v, weights: table(f32, weights) }, ({ u, v, weights }, c) => {
        v[c] = weights[u[c]];
      });
      const steps = skeleton(set, "weighing", [weigh], { precision: "strict", occ: "none" });
      const outside = /reads weights\[.*\]: index 9 is outside axis 0 of "weights", which has extent 4/;
      for (const plane of [undefined, 1, 14, undefined]) {
        u.fill((_i, _j, k) => (k === plane ? 9 : k % 4));
        if (plane === undefined) await steps.run(3);
        else await assert.rejects(steps.run(3), outside, `plane ${plane}`);
        steps.submit(1);
        if (plane === undefined) await v.download();
        else await assert.rejects(v.download(), outside);
      }
      steps.free();
      grid.free();
      check();
    });

    it("leaves the code as it is where nothing is checked", () => {
      const launch = device.prepare(gather, arrays(), range(N), { checked: false });
      assert.doesNotMatch(launch.source(), /fail/);
    });
  });
}
