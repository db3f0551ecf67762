import assert from "node:assert/strict";
import { test } from "node:test";
import { roundTicks } from "../../../src/skeleton/explain/timeline-views.js";

test("ticks of a timeline are round, three to seven", () => {
  assert.deepEqual(roundTicks(100), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(roundTicks(7.3), [0, 2, 4, 6]);
  assert.deepEqual(roundTicks(0), [0]);
  for (let end = 0.013; end < 1e7; end *= 1.37) {
    const ticks = roundTicks(end);
    assert.ok(ticks.length >= 3 && ticks.length <= 7 && ticks.at(-1)! <= end * (1 + 1e-9), `${end}: ${ticks}`);
    assert.match((ticks[1] ?? 1).toExponential(0), /^[125]e/);
  }
});
