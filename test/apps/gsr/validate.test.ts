import assert from "node:assert/strict";
import { test } from "node:test";
import { deviation } from "../../../apps/gsr/validate.js";

test("deviations from 1, divided by all unknowns and as published", () => {
  const { mean, rms, max, published } = deviation([1, 1.5, 0.75, 1], 2);
  assert.equal(mean, 0.0625);
  assert.equal(rms, Math.sqrt(0.3125) / 2);
  assert.equal(max, 0.5);
  assert.deepEqual(published, { mean: 0.125, rms: Math.sqrt(0.15625 - 0.125 ** 2) });
});
