import assert from "node:assert/strict";
import { test } from "node:test";
import { extremes } from "./cases.js";
import { run } from "./run.js";

/** How many are drawn, the same each time; the tier of applications has all. */
const DRAWN = 10;

test("options with extreme values, some of all, end right or with one message", async () => {
  const cases = await extremes();
  assert.ok(cases.length > 1000, `${cases.length} cases`);
  // A step that shares no factor with the number of cases draws none twice.
  const drawn = Array.from({ length: DRAWN }, (_, n) => cases[(n * 1009 + 17) % cases.length]);
  const { count, failures } = await run(drawn);
  assert.equal(count, DRAWN);
  assert.deepEqual(failures, []);
});
