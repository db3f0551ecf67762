import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "../../../src/device/device.js";
import { copyRate } from "../../../src/skeleton/run/timeline.js";

test("the rate of a copy counts the bytes that it reads and writes, and is measured once", async () => {
  let [submitted, elements] = [0, 0];
  const device = {
    array: (_type: unknown, length: number) => ({ free: () => void (elements = length) }),
    prepare: () => ({ free: () => {} }),
    queue: { record: () => ({ since: () => Promise.resolve(0.25) }), submit: () => submitted++ },
  } as unknown as Device;
  const { bandwidth, words } = await copyRate(device);
  assert.equal(bandwidth, (16 * elements) / 0.25);
  assert.equal(words, `${(bandwidth / 1e9).toFixed(1)} GB/s`);
  const before = submitted;
  assert.equal((await copyRate(device)).bandwidth, bandwidth);
  assert.equal(submitted, before);
});
