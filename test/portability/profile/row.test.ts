import assert from "node:assert/strict";
import test from "node:test";
import { LabelSamples } from "../../../src/portability/profile/row.js";

const subject = { kind: "kernel", region: [], label: "k", devices: ["js"] } as const;

test("samples become fewer, and each stands for the launches since the one before", () => {
  const row = new LabelSamples(subject, 4);
  const sampled: number[] = [];
  for (let n = 1; n <= 40; n++) {
    const work = { bytes: 8 * n, flops: n };
    const weight = row.add(work);
    if (weight > 0) {
      sampled.push(n);
      row.measured(n * 1e-6, weight, work);
    }
  }
  assert.deepEqual(sampled, [1, 2, 3, 4, 5, 7, 9, 11, 13, 17, 21, 25, 33]);
  assert.equal(row.count, 40);
  assert.equal(row.sampled, 13);
  assert.equal(row.least, 1e-6);
  assert.equal(row.bytes, (8 * 40 * 41) / 2);
  // Seconds are proportional to bytes, so that any weights give the same rates.
  assert.ok(Math.abs(row.rates.bytes - 8e6) < 1e-3);
  assert.ok(Math.abs(row.rates.flops - 1e6) < 1e-3);
  // By weights 1 1 1 1 1 2 2 2 2 4 4 4 8.
  assert.ok(Math.abs(row.mean - (15 + 2 * (7 + 9 + 11 + 13) + 4 * (17 + 21 + 25) + 8 * 33) / 33e6) < 1e-15);
});

test("what waits for its time holds further samples back", () => {
  const row = new LabelSamples(subject, 1000);
  row.pending = 64;
  assert.equal(row.add({ bytes: 0, flops: 0 }), 0);
  row.pending = 63;
  assert.equal(row.add({ bytes: 0, flops: 0 }), 2);
});
