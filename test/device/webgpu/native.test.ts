import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { encode, nativeBuffer, nativeDevice } from "../../../src/device/webgpu/native.js";
import { f32, kernel, open, range, view } from "../../../src/index.js";
import { openWebGpu } from "./opened.js";

const twice = kernel("twice", { x: view(f32) }, ({ x }, i) => {
  x[i] = 2 * x[i];
});

const { device, skip } = await openWebGpu();

describe("what lies under a device of webgpu", { skip }, () => {
  after(() => device?.close());

  it("takes commands of one's own between those of kernels, in one submission", async () => {
    const [x, y] = [device.from(f32, [1, 2, 3, 4]), device.array(f32, 4)];
    const launches = [x, y].map((view) => device.prepare(twice, { x: view }, range(4)));
    const before = device.gpu.commands.submissions;
    device.queue.submit(launches[0]);
    encode(device, (encoder) => encoder.copyBufferToBuffer(nativeBuffer(x), 0, nativeBuffer(y), 0, 16));
    device.queue.submit(launches[1]);
    await Promise.resolve();
    assert.equal(device.gpu.commands.submissions, before + 1);
    assert.deepEqual([...(await device.queue.read(y))], [4, 8, 12, 16]);
    for (const launch of launches) launch.free();
    for (const view of [x, y]) view.free();
  });

  it("names what has no such thing", async () => {
    const js = await open("js");
    assert.throws(() => nativeDevice(js), /js.*not of webgpu/);
    assert.throws(() => nativeBuffer(js.array(f32, 1)), /has no GPUBuffer/);
    const freed = device.array(f32, 1);
    freed.free();
    assert.throws(() => nativeBuffer(freed), /was freed/);
    assert.throws(() => device.queue.capture(() => encode(device, () => {})), /cannot be captured/);
    await js.close();
  });

  it("is gone when the device is closed", async () => {
    const { device: other } = await openWebGpu();
    assert.ok(nativeDevice(other).queue);
    await other.close();
    assert.throws(() => nativeDevice(other), /closed/);
  });
});
