import assert from "node:assert/strict";
import { it } from "node:test";
import type { DeviceEvent, Queue } from "../../../src/device/device.js";
import { SubmitPace } from "../../../src/skeleton/run/pace.js";

/** A queue whose marks say when they are waited for. */
function marked(): { queue: Queue; waited: number[] } {
  const waited: number[] = [];
  let marks = 0;
  const record = (): DeviceEvent => {
    const mark = marks++;
    return { done: async () => void waited.push(mark) } as unknown as DeviceEvent;
  };
  return { queue: { record } as unknown as Queue, waited };
}

/** Runs with a clock that stands at what it is set to, in milliseconds. */
async function withClock(run: (set: (ms: number) => void) => Promise<void>): Promise<void> {
  const { now } = performance;
  let ms = 1000;
  performance.now = () => ms;
  try {
    await run((to) => (ms = to));
  } finally {
    performance.now = now;
  }
}

it("a loop rests after 256 submissions, each time", () =>
  withClock(async () => {
    const pace = new SubmitPace(marked().queue);
    for (const turn of [0, 1, 2]) {
      for (let n = 1; n < 256; n++) assert.equal(pace.due(), false, `turn ${turn}, submission ${n}`);
      assert.equal(pace.due(), true);
      await pace.rest();
    }
  }));

it("a loop rests once it has held the event loop for more than 50 milliseconds", () =>
  withClock(async (set) => {
    const pace = new SubmitPace(marked().queue);
    set(1050);
    assert.equal(pace.due(), false);
    set(1050.01);
    assert.equal(pace.due(), true);
    await pace.rest();
    assert.equal(pace.due(), false);
    set(1100.02);
    assert.equal(pace.due(), true);
  }));

it("a rest waits for what was submitted before the last one, and lets others have their turn", async () => {
  const { queue, waited } = marked();
  const pace = new SubmitPace(queue);
  let turns = 0;
  const others = setImmediate(() => turns++);
  await pace.rest();
  clearImmediate(others);
  assert.deepEqual([waited, turns], [[], 1]);
  await pace.rest();
  await pace.rest();
  assert.deepEqual(waited, [0, 1]);
});
