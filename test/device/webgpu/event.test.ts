import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { openWebGpu } from "./opened.js";

const { device, skip } = await openWebGpu();

describe("events of WebGPU", { skip }, () => {
  after(() => device.close());

  it("tell their distance when the device's time of the earlier has made place for others", async () => {
    const { queue } = device;
    const start = performance.now();
    const first = queue.record();
    await first.done();
    await new Promise((resolve) => setTimeout(resolve, 40));
    // There are places for 1024.
    for (let n = 0; n < 1030; n++) queue.record();
    const seconds = await queue.record().since(first);
    const elapsed = (performance.now() - start) / 1e3;
    // Clocks of devices tick every tenth of a millisecond.
    assert.ok(seconds > 0.03 && seconds <= elapsed + 1e-3, `${seconds} s in ${elapsed} s`);
  });

  it("keep a time that was asked for", async () => {
    const { queue } = device;
    const [first, second] = [queue.record(), queue.record()];
    const seconds = await second.since(first);
    for (let n = 0; n < 1030; n++) queue.record();
    assert.equal(await second.since(first), seconds);
  });
});
