import assert from "node:assert/strict";
import { it } from "node:test";
import type { BlockedView } from "../../src/device/memory/blocked-view.js";
import { open } from "../../src/device/open.js";
import { range } from "../../src/device/launch/policy.js";
import type { View } from "../../src/device/memory/view.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f32, fixed, i32, scatter, sum, view } from "../../src/kernel/declare/params.js";
import { aosoa, deepCopy, mirror, records, type RecordLayout } from "../../src/set/views.js";
import { eachDevice } from "../patterns/devices.js";

const COMPONENTS = { x: f32, v: [f32, 3], w: f32, id: i32 } as const;
const LAYOUTS: readonly RecordLayout[] = ["soa", "aos", aosoa(8), aosoa(64), "auto"];
const N = 1003;

const push = kernel(
  "push",
  { dt: f32, axes: fixed(i32), x: view(f32), v: view(f32, 2), w: view(f32), id: view(i32), kinetic: sum(f32) },
  ({ dt, axes, x, v, w, id, kinetic }, i) => {
    let energy = 0 * dt;
    for (let d = 0; d < axes; d++) {
      v[i][d] = v[i][d] * 1.25 + dt;
      energy += v[i][d] * v[i][d];
    }
    x[i] += dt * v[i][0];
    id[i] = x.length - id[i];
    kinetic.add(w[i] * energy);
  },
);
const count = kernel("count", { id: view(i32), v: view(f32, 2), h: scatter(f32), hits: scatter(i32, 2) }, ({ id, v, h, hits }, i) => {
  h.add(id[i], v[id[i]][1]);
  hits.add(id[i], i & 1, 1);
});

const data = (length: number, scale: number): Float32Array => Float32Array.from({ length }, (_, n) => Math.sin(n) * scale);

await eachDevice("records", (device) => {
  const { queue } = device;

  async function pushed(layout: RecordLayout): Promise<ArrayLike<number>[]> {
    const particles = records(device, N, COMPONENTS, { layout });
    const { x, v, w, id } = particles.views;
    await deepCopy(x, data(N, 1), queue);
    await deepCopy(v, data(3 * N, 2), queue);
    await deepCopy(w, data(N, 3), queue);
    await deepCopy(
      id,
      Int32Array.from({ length: N }, (_, n) => (n * 7) % N),
      queue,
    );
    const { kinetic } = await device.run(push, { dt: 0.5, axes: 3, ...particles.views }, range(N));
    const hosts = await Promise.all([x, v, w, id].map((component) => mirror(component, queue).download()));
    particles.free();
    return [...hosts, [kinetic]];
  }

  it("give the same bits in every layout", async () => {
    const expected = await pushed("soa");
    assert.equal(expected[0][1], Math.fround(Math.fround(Math.sin(1)) + 0.5 * Math.fround(Math.fround(Math.sin(3) * 2) * 1.25 + 0.5)));
    for (const layout of LAYOUTS) assert.deepEqual(await pushed(layout), expected, JSON.stringify(layout));
  });

  it("are scattered into and gathered from, by indices that are data", async () => {
    const results = await Promise.all(
      LAYOUTS.map(async (layout) => {
        const source = records(device, N, { id: i32, v: [f32, 3] }, { layout });
        const target = records(device, N, { h: f32, hits: [i32, 2] }, { layout });
        await deepCopy(
          source.views.id,
          Int32Array.from({ length: N }, (_, n) => (n * n) % N),
          queue,
        );
        await deepCopy(source.views.v, data(3 * N, 1), queue);
        await device.run(count, { ...source.views, ...target.views }, range(N));
        return Promise.all([mirror(target.views.h, queue).download(), mirror(target.views.hits, queue).download()]);
      }),
    );
    assert.equal(
      results[0][1].reduce((a, b) => a + b, 0),
      N,
    );
    for (const result of results) assert.deepEqual(result, results[0]);
  });

  it("are copied from any layout to any other", async () => {
    const values = data(3 * N, 5);
    for (const from of LAYOUTS)
      for (const to of LAYOUTS) {
        const [source, target] = [from, to].map((layout) => records(device, N, { x: f32, v: [f32, 3] }, { layout }));
        await deepCopy(source.views.v, values, queue);
        await deepCopy(target.views.v, source.views.v, queue);
        assert.deepEqual(await mirror(target.views.v, queue).download(), values);
        assert.deepEqual(await mirror(target.views.x, queue).download(), new Float32Array(N));
        for (const each of [source, target]) each.free();
      }
  });

  it("may have none", async () => {
    for (const layout of LAYOUTS) {
      const none = records(device, 0, COMPONENTS, { layout });
      const { kinetic } = await device.run(push, { dt: 0.5, axes: 3, ...none.views }, range(0));
      assert.equal(kinetic, 0);
      assert.equal((await mirror(none.views.v, queue).download()).length, 0);
    }
  });

  it("keep other components in another launch like one before", async () => {
    const { views } = records(device, 40, { a: f32, b: f32 }, { layout: aosoa(8) });
    const fill = kernel("fill", { x: view(f32), value: f32 }, ({ x, value }, i) => {
      x[i] = value + x.length;
    });
    await device.run(fill, { x: views.a, value: 1 }, range(40));
    await device.run(fill, { x: views.b, value: 2 }, range(40));
    await device.run(fill, { x: views.b, value: 3 }, range(40), { precision: "fast" });
    assert.deepEqual(await mirror(views.a, queue).download(), new Float32Array(40).fill(41));
    await deepCopy(views.a, 5, queue);
    assert.deepEqual(await mirror(views.a, queue).download(), new Float32Array(40).fill(5));
    assert.deepEqual(await mirror(views.b, queue).download(), new Float32Array(40).fill(43));
  });
});

it("records lie as their layout says", async () => {
  const device = await open("js");
  const soa: View<"f32", 2> = records(device, 100, COMPONENTS, { layout: "soa" }).views.v;
  assert.deepEqual([soa.shape, soa.strides, soa.offset], [[100, 3], [1, 128], 128]);
  const aos: View<"f32", 2> = records(device, 100, COMPONENTS, { layout: "aos" }).views.v;
  assert.deepEqual([aos.shape, aos.strides, aos.offset], [[100, 3], [5, 1], 1]);
  const blocked: BlockedView<"f32", 2> = records(device, 100, COMPONENTS, { layout: aosoa(16) }).views.v;
  assert.deepEqual(
    [blocked.shape, blocked.storage.shape, blocked.storage.strides, blocked.storage.offset],
    [[100, 3], [7, 3, 16], [80, 16, 1], 16],
  );
  // @ts-expect-error queues read plain views only
  void (() => device.queue.read(blocked));
  assert.equal(records(device, 4, COMPONENTS).layout, "aos");
  const vectors = await open("wasm");
  assert.equal(records(vectors, 4, COMPONENTS).layout, "soa");
  await vectors.close();
  await device.close();
});

it("records are refused where they cannot be", async () => {
  const device = await open("js");
  assert.throws(() => records(device, -1, COMPONENTS), { name: "LaunchError", message: /-1 records/ });
  assert.throws(() => records(device, 4, COMPONENTS, { layout: aosoa(12) }), /blocks of 12: give aosoa a power of two/);
  // @ts-expect-error there is no such layout
  assert.throws(() => records(device, 4, COMPONENTS, { layout: "left" }), /no layout left: use soa, aos, auto or aosoa/);
  assert.throws(() => records(device, 4, { v: [f32, 0] }), /component "v" of records has 0 numbers/);
  const { x, v, n } = records(device, 10, { x: f32, v: [f32, 3], n: i32 }, { layout: aosoa(8) }).views;
  const total = kernel("total", { x: view(f32), s: sum(f32) }, ({ x, s }, i) => {
    s.add(x[i]);
  });
  await assert.rejects(device.run(total, { x }, range(11)), /reads x\[i\] at .* with index 10 along axis 0, but x has extent 10 there/);
  // @ts-expect-error v has rank 2
  await assert.rejects(device.run(total, { x: v }, range(10)), /x has rank 1, and is given a view of shape \[10,3\]/);
  // @ts-expect-error n is of integers
  await assert.rejects(device.run(total, { x: n }, range(10)), /x is a view of f32, and is given one of i32/);
  const reversed = kernel("reversed", { from: view(f32), to: view(f32) }, ({ from, to }, i) => {
    to[i] = from[9 - i];
  });
  await assert.rejects(device.run(reversed, { from: x, to: x }, range(10)), /share memory, and to is written/);
  await device.close();
});
