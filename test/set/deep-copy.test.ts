import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { open } from "../../src/device/open.js";
import { f64, f32, i32 } from "../../src/kernel/declare/params.js";
import { BlockedView } from "../../src/device/memory/blocked-view.js";
import { View } from "../../src/device/memory/view.js";
import { deepCopy, mirror } from "../../src/set/views.js";
import { NOT_ASKED, tested } from "../devices.js";
import { eachDevice } from "../patterns/devices.js";

const values = Float32Array.from({ length: 60 }, (_, n) => n);

await eachDevice("deepCopy", (device) => {
  const { queue } = device;

  it("goes between layouts and pieces of views", async () => {
    const source = device.from(f32, values, [3, 4, 5], { layout: "left" });
    const target = device.array(f32, [3, 4, 5]);
    await deepCopy(target, source, queue);
    assert.deepEqual(await queue.read(target), values);
    await deepCopy(target.at(0, 1), source.at(0, 2), queue);
    assert.deepEqual(await queue.read(target.at(0, 1)), values.slice(40));
  });

  it("goes to another memory and back", async () => {
    const host = await open("js");
    const near = host.array(f32, [3, 4, 5], { layout: "left" });
    const far = device.from(f32, values, [3, 4, 5]);
    await deepCopy(near, far, queue);
    assert.deepEqual(await host.queue.read(near), values);
    await deepCopy(far.slice([0, 1]), near.slice([2, 3]), queue);
    assert.deepEqual(await queue.read(far.at(0, 0)), values.slice(40));
    await host.close();
  });

  it("takes host data and gives it", async () => {
    const view = device.array(i32, [2, 3], { layout: "left" });
    await deepCopy(view, [1, 2, 3, 4, 5, 6], queue);
    const host = new Int32Array(8);
    await deepCopy(host.subarray(1, 7), view, queue);
    assert.deepEqual([...host], [0, 1, 2, 3, 4, 5, 6, 0]);
  });

  it("sets all elements to a number", async () => {
    const view = device.array(i32, [2, 3]);
    await deepCopy(view.at(1, 1), -7, queue);
    assert.deepEqual([...(await queue.read(view))], [0, -7, 0, 0, -7, 0]);
    await assert.rejects(deepCopy(view, 0.5, queue), /value 0 is 0.5, which i32 cannot hold/);
  });

  it("goes between blocks that share memory", async () => {
    const storage = device.from(
      i32,
      Array.from({ length: 16 }, (_, n) => n),
      [4, 4],
    );
    const [low, high] = [new BlockedView(storage.slice([0, 3]), 10), new BlockedView(storage.slice([1, 4]), 10)];
    await deepCopy(high, low, queue);
    assert.deepEqual([...(await queue.read(storage))], [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 15]);
    await deepCopy(low, high, queue);
    assert.deepEqual([...(await queue.read(storage))], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 6, 7, 8, 9, 14, 15]);
  });

  it("refuses a target that meets itself", async () => {
    const own = device.array(i32, 4);
    const target = new View(own.buffer, i32, [3, 2], [1, 1]);
    await assert.rejects(deepCopy(target, [1, 2, 3, 4, 5, 6], queue), { name: "LaunchError", message: /several elements share one place/ });
  });

  it("serves mirrors", async () => {
    const view = device.from(f32, values.slice(0, 6), [2, 3], { layout: "left" });
    const copy = mirror(view, queue);
    assert.deepEqual([...copy.host], [0, 0, 0, 0, 0, 0]);
    assert.deepEqual([...(await copy.download())], [0, 1, 2, 3, 4, 5]);
    copy.host[copy.index(1, 0)] = 9;
    await copy.upload();
    assert.deepEqual([...(await queue.read(view))], [0, 1, 2, 9, 4, 5]);
  });
});

describe("deepCopy", () => {
  it("is refused between what differs, by name", async () => {
    const device = await open("js");
    const view = device.array(f64, [2, 3]);
    const refuses = (copy: () => Promise<void>, message: RegExp) => assert.rejects(copy, { name: "LaunchError", message });
    await refuses(() => deepCopy(view, device.array(f64, [3, 2])), /copy from f64 \[3,2\] to f64 \[2,3\]: shapes and types must be equal/);
    // @ts-expect-error f32 is no f64
    await refuses(() => deepCopy(view, device.array(f32, [2, 3])), /copy from f32 \[2,3\] to f64 \[2,3\]/);
    await refuses(() => deepCopy(view, [1, 2]), /2 values for a view of shape \[2,3\], which has 6/);
    await refuses(() => deepCopy(new Float64Array(5), view), /5 values for a view of shape \[2,3\]/);
    // @ts-expect-error integers are no floats
    await refuses(() => deepCopy(new Int32Array(6), view), /to an Int32Array: give an array of f64/);
    await refuses(() => deepCopy(device.array(i32, 2), [1, 0.5]), /value 1 is 0.5, which i32 cannot hold/);
    // @ts-expect-error host arrays have methods of their own
    await refuses(() => deepCopy(new Float64Array(2), [1, 2]), /two host arrays/);
    assert.throws(() => mirror(view).index(1, 3), { name: "LaunchError", message: /index 3 of axis 1, which has extent 3/ });
    assert.throws(() => mirror(view).index(1), /1 indices; give one for each axis/);
    await device.close();
  });

  it("asks for the queue of a GPU", { skip: !tested("webgpu") && NOT_ASKED }, async (t) => {
    const device = await open("webgpu").catch((error: Error) => t.skip(error.message));
    if (!device) return;
    await assert.rejects(deepCopy(new Float32Array(2), device.array(f32, 2)), {
      name: "LaunchError",
      message: /memory of webgpu.*: give a queue/,
    });
    await device.close();
  });
});
