import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Device } from "../../src/device/device.js";
import { range } from "../../src/device/launch/policy.js";
import type { View } from "../../src/device/memory/view.js";
import { writeCount } from "../../src/device/memory/writes.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { list } from "../../src/device/launch/list-param.js";
import { f32, i32, scatter, sum, u32, view } from "../../src/kernel/declare/params.js";
import { sortByKey } from "../../src/patterns/index.js";
import { dense } from "../../src/domain/index.js";
import { deepCopy } from "../../src/set/deep-copy.js";
import { devices } from "../../src/set/index.js";
import { skeleton } from "../../src/skeleton/index.js";
import { eachDevice } from "../patterns/devices.js";

const N = 64;
const scale = kernel("scale", { a: f32, x: view(f32), y: view(f32) }, ({ a, x, y }, i) => {
  y[i] = a * x[i];
});
const add = kernel("add", { x: view(f32), into: scatter(f32) }, ({ x, into }, i) => into.add(i % 4, x[i]));
const total = kernel("total", { x: view(f32), s: sum(f32) }, ({ x, s }, i) => s.add(x[i]));
const chosen = kernel("chosen", { x: view(f32), found: list(i32) }, ({ x, found }, i) => {
  if (x[i] > 2) found.push(i);
});

/** Counts writes to each view while `work` runs. */
async function counted(views: Readonly<Record<string, View>>, work: () => unknown): Promise<Record<string, number>> {
  const before = Object.entries(views).map(([name, { buffer }]) => [name, buffer, writeCount(buffer)] as const);
  await work();
  return Object.fromEntries(before.map(([name, buffer, count]) => [name, writeCount(buffer) - count]));
}

const arrays = (device: Device) => ({
  x: device.from(
    f32,
    Float32Array.from({ length: N }, (_, n) => n % 7),
  ),
  y: device.array(f32, N),
});

await eachDevice("writes", (device) => {
  it("launches count for what they store into", async () => {
    const { x, y } = arrays(device);
    for (let n = 0; n < 4; n++)
      assert.deepEqual(await counted({ x, y }, () => device.run(scale, { a: 2 + n, x, y }, range(N))), { x: 0, y: 1 });
    // Over another range, and in part of the memory.
    assert.deepEqual(await counted({ x, y }, () => device.run(scale, { a: 2, x, y }, range(N - 3))), { x: 0, y: 1 });
    const part = y.slice([0, 8]);
    assert.deepEqual(await counted({ x, y }, () => device.run(scale, { a: 2, x, y: part }, range(8))), { x: 0, y: 1 });
  });

  it("prepared launches count when they are submitted", async () => {
    const { x, y } = arrays(device);
    const made = () => device.prepare(scale, { a: 2, x, y }, range(N));
    assert.deepEqual(await counted({ y }, made), { y: 0 });
    const launch = made();
    const twice = async () => {
      device.queue.submit(launch);
      launch.submit({ a: 5 });
      await device.queue.finish();
    };
    assert.deepEqual(await counted({ x, y }, twice), { x: 0, y: 2 });
    launch.free();
  });

  it("scatters and results on the device count", async () => {
    const { x, y } = arrays(device);
    const into = device.array(f32, 4);
    const s = device.array(f32, 1);
    assert.deepEqual(await counted({ x, into }, () => device.run(add, { x, into }, range(N))), { x: 0, into: 1 });
    assert.deepEqual(await counted({ x, s, y }, () => device.run(total, { x, s }, range(N))), { x: 0, s: 1, y: 0 });
  });

  it("lists and patterns count", async () => {
    const { x } = arrays(device);
    const found = device.list(i32, N);
    const once = await counted({ x, elements: found.view, count: found.count }, () => device.run(chosen, { x, found }, range(N)));
    assert.ok(once.elements >= 1 && once.count >= 1 && once.x === 0, JSON.stringify(once));
    const keys = device.from(
      u32,
      Uint32Array.from({ length: N }, (_, n) => (n * 37) % N),
    );
    const sorted = device.array(u32, N);
    const permutation = device.array(i32, N);
    const sorts = await counted({ keys, sorted, permutation }, () => sortByKey(device, { keys, permutation, sorted }).run());
    assert.ok(sorts.sorted >= 1 && sorts.permutation >= 1 && sorts.keys === 0, JSON.stringify(sorts));
  });

  it("copies, clears and uploads count, and reads do not", async () => {
    const { x, y } = arrays(device);
    const { queue } = device;
    assert.deepEqual(await counted({ x, y }, () => queue.copy(x, y)), { x: 0, y: 1 });
    assert.deepEqual(await counted({ x, y }, () => queue.clear(y)), { x: 0, y: 1 });
    assert.deepEqual(await counted({ x, y }, () => queue.write(x, new Float32Array(N))), { x: 1, y: 0 });
    assert.deepEqual(await counted({ x, y }, () => deepCopy(y, new Float32Array(N), queue)), { x: 0, y: 1 });
    assert.deepEqual(await counted({ x, y }, () => queue.read(y)), { x: 0, y: 0 });
  });

  it("graphs count when they are submitted, not when they are captured", async () => {
    const { x, y } = arrays(device);
    const { queue } = device;
    const z = device.array(f32, N);
    const launch = device.prepare(scale, { a: 2, x, y }, range(N));
    let graph: ReturnType<typeof queue.capture>;
    const capture = () => {
      graph = queue.capture(() => {
        queue.submit(launch);
        queue.copy(y, z);
      });
    };
    assert.deepEqual(await counted({ x, y, z }, capture), { x: 0, y: 0, z: 0 });
    assert.deepEqual(await counted({ x, y, z }, () => queue.submit(graph)), { x: 0, y: 1, z: 1 });
    await queue.finish();
    graph!.free();
    launch.free();
  });
});

describe("writes of fields", () => {
  for (const names of ["js", "wasm*2"])
    it(`skeletons, fills and uploads count on ${names}`, async () => {
      const set = await devices(names);
      const grid = dense(set, [8, 8, 8]);
      const [u, v] = [grid.field("u", f32), grid.field("v", f32)];
      const step = grid.container("step", { u, v }, ({ u, v }, c) => {
        v[c] = u.at(c, 0, 0, 1) + u[c];
      });
      const flow = skeleton(set, "flow", [step]);
      const views = () =>
        Object.fromEntries([...u.storage.map((view, m) => [`u${m}`, view]), ...v.storage.map((view, m) => [`v${m}`, view])]);
      const grew = async (field: string, work: () => unknown) => {
        const counts = await counted(views(), work);
        for (const [name, count] of Object.entries(counts)) if (name.startsWith(field)) assert.ok(count > 0, `${name}: ${count}`);
        return counts;
      };
      await grew("u", () => u.fill(1));
      await grew("u", () => u.upload(new Float32Array(512)));
      await grew("v", () => flow.run(3));
      await grew("v", () => grid.run(step));
      assert.ok(Object.entries(await counted(views(), () => u.download())).every(([, count]) => count === 0));
      await set.close();
    });
});
