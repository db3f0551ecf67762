import assert from "node:assert/strict";
import { test } from "node:test";
import { extremes } from "./cases.js";
import { run } from "./run.js";

/** For all commands together. */
const SECONDS = 3;

test("options with extreme values, drawn at random, end within 10 s, right or with one message", async (t) => {
  const cases = await extremes();
  const order = cases.map((each) => ({ each, key: Math.random() })).sort((a, b) => a.key - b.key);
  const { count, failures } = await run(
    order.map(({ each }) => each),
    SECONDS,
  );
  t.diagnostic(`${count} of ${cases.length} commands`);
  assert.ok(count > 0);
  assert.deepEqual(failures, []);
});
