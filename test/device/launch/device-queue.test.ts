import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device, Launch } from "../../../src/device/device.js";
import { DeviceQueue } from "../../../src/device/launch/device-queue.js";

/** A queue of a device that works on until `finish` is called. */
function queueOf(results: Record<string, number>) {
  let finish!: (error?: Error) => void;
  const done = new Promise<void>((resolve, reject) => (finish = (error) => (error ? reject(error) : resolve())));
  const launch = { kernel: { name: "k" }, ir: {}, written: [] } as unknown as Launch;
  class Fake extends (DeviceQueue as unknown as new () => object) {
    readonly device = { name: "fake" } as Device;
    readonly capturing = false;
    requireOpen(): void {}
    ownLaunch = (work: unknown): unknown => (work === launch ? launch : undefined);
    enqueue(): void {}
    resultsOf = (): Record<string, number> => results;
    untilDone = (): Promise<void> => done;
  }
  return { queue: new Fake() as unknown as DeviceQueue<never, never>, launch, finish };
}

test("results of a launch that is asked for alone wait for what was enqueued", async () => {
  const { queue, launch, finish } = queueOf({ s: 3 });
  queue.submitAlone(launch);
  let given: unknown;
  const asked = queue.results(launch).then((results) => (given = results));
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(given, undefined);
  finish();
  assert.deepEqual(await asked, { s: 3 });
});

test("and fail where that fails", async () => {
  const { queue, launch, finish } = queueOf({ s: 3 });
  queue.submitAlone(launch);
  finish(new Error("lost"));
  await assert.rejects(queue.results(launch), { message: "lost" });
});
