import assert from "node:assert/strict";
import test from "node:test";
import { rangeBatches, sortPasses, teamBatches } from "../../../src/device/gpu/sorted-contributions.js";
import { range } from "../../../src/device/launch/policy.js";

test("batches of a line are whole chunks, of planes whole rows, and cover the range", () => {
  assert.deepEqual(
    rangeBatches(range([10, 1010]), 2, 1200).map(({ begin, extents }) => [begin[0], extents[0]]),
    [
      [10, 512],
      [522, 488],
    ],
  );
  assert.deepEqual(
    rangeBatches(range([1, 6], 100), 3, 700).map(({ begin, extents }) => [...begin, ...extents]),
    [
      [1, 0, 2, 100],
      [3, 0, 2, 100],
      [5, 0, 1, 100],
    ],
  );
});

test("a batch is one row or team at least, and all where nothing is recorded", () => {
  const policy = range(3, 1000);
  assert.equal(rangeBatches(policy, 5, 10).length, 3);
  assert.deepEqual(rangeBatches(policy, 0, 10), [policy]);
  assert.deepEqual(teamBatches(5, 4, 10), [
    { first: 0, size: 2 },
    { first: 2, size: 2 },
    { first: 4, size: 1 },
  ]);
  assert.equal(teamBatches(3, 100, 10).length, 3);
  assert.deepEqual(teamBatches(3, 0, 10), [{ first: 0, size: 3 }]);
});

test("passes of a sort take turns between two places, the first without an order", () => {
  const { passes, last } = sortPasses(9, 4);
  assert.deepEqual(passes, [
    { keys: "keys", order: undefined, shift: 0, sortedKeys: "sortedKeys", sortedOrder: "sortedOrder" },
    { keys: "sortedKeys", order: "sortedOrder", shift: 4, sortedKeys: "keys", sortedOrder: "order" },
    { keys: "keys", order: "order", shift: 8, sortedKeys: "sortedKeys", sortedOrder: "sortedOrder" },
  ]);
  assert.deepEqual(last, { keys: "sortedKeys", order: "sortedOrder" });
});
