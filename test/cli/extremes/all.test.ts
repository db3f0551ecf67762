import assert from "node:assert/strict";
import { test } from "node:test";
import { casesAt, TURN } from "../../turns.js";
import { extremes } from "./cases.js";
import { run } from "./run.js";

test("every option with every extreme value ends, right or with one message", async (t) => {
  const cases = await extremes();
  assert.ok(cases.length > 1000, `${cases.length} cases`);
  const start = performance.now();
  const { count, failures } = await run(casesAt(cases, TURN));
  t.diagnostic(`${count} commands in ${((performance.now() - start) / 1e3).toFixed(0)} s`);
  assert.deepEqual(failures, []);
});
