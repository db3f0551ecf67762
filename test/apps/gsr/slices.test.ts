import assert from "node:assert/strict";
import { test } from "node:test";
import { SLICE, inSlices } from "../../../apps/gsr/slices.js";
import { noise } from "../../../src/testing/values.js";

for (const [groups, window, count] of [
  [1, 1, 5],
  [7, 7, 200],
  [100, 100, 3000],
  [100, 25, 777],
  [64, 64, 0],
] as const)
  test(`${count} entries of ${groups} groups, ${window} of them in a window`, () => {
    const groupOf = (entry: number): number => Math.floor(noise(entry) ** 2 * groups);
    const { group, start, length, entries } = inSlices(groups, window, count, groupOf);
    const lists = new Map<number, number[]>();
    group.forEach((g, place) => {
      assert.equal(Math.floor(g / window), Math.floor(place / window));
      lists.set(
        g,
        Array.from({ length: length[place] }, (_, n) => entries[start[place] + SLICE * n]),
      );
    });
    const expected = Array.from({ length: groups }, (_, g) => Array.from({ length: count }, (_, e) => e).filter((e) => groupOf(e) === g));
    assert.deepEqual(
      expected.map((_, g) => lists.get(g)),
      expected,
    );
    // Neighbouring lists begin side by side, and lists of like length share a slice.
    start.forEach((first, place) => assert.equal(first % SLICE, place % SLICE));
    if (window === groups) assert.deepEqual(length, length.slice().sort().reverse());
  });
