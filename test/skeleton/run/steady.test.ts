import assert from "node:assert/strict";
import { test } from "node:test";
import { isDisturbed, steadySeconds } from "../../../src/skeleton/run/steady.js";

/** Gives the times one after the other, the last for ever. */
const giving = (...times: number[]) => {
  let runs = 0;
  const run = () => Promise.resolve(times[Math.min(runs++, times.length - 1)]);
  return { run, runs: () => runs };
};

test("times that agree are measured once, without the first", async () => {
  const { run, runs } = giving(90, 1.1, 1, 1.05);
  assert.deepEqual(await steadySeconds(run), { seconds: 1, spread: 1.05 });
  assert.equal(runs(), 4);
});

test("a round under load is followed by others, and the least counts", async () => {
  const { run, runs } = giving(90, 10, 30, 14, 1, 9, 1.1);
  const found = await steadySeconds(run);
  assert.equal(found.seconds, 1);
  assert.ok(!isDisturbed(found));
  assert.equal(runs(), 7);
});

test("times that never agree are told", async () => {
  let n = 0;
  const found = await steadySeconds(() => Promise.resolve(n++ % 3 === 0 ? 1 : 10));
  assert.equal(found.seconds, 1);
  assert.ok(isDisturbed(found));
  assert.equal(n, 19);
});

test("times agree where the median of three is within a quarter of the least", async () => {
  for (const [median, disturbed] of [
    [1.2, false],
    [1.25, false],
    [1.3, true],
  ] as const) {
    const { run } = giving(90, ...Array.from({ length: 6 }, () => [9, 1, median]).flat());
    assert.equal(isDisturbed(await steadySeconds(run)), disturbed);
  }
});
