import assert from "node:assert/strict";
import { test } from "node:test";
import { SLICE, inSlices } from "../../../apps/gsr/slices.js";
import { noise } from "../../../src/testing/values.js";

for (const [groups, window, count, longest] of [
  [1, 1, 5, Infinity],
  [7, 7, 200, Infinity],
  [100, 100, 3000, Infinity],
  [100, 25, 777, Infinity],
  [64, 64, 0, 8],
  [1, 1, 70, 8],
  [7, 7, 200, 16],
  [100, 25, 3000, 20],
] as const)
  test(`${count} entries of ${groups} groups, ${window} of them in a window, ${longest} of a list at most`, () => {
    const groupOf = (entry: number): number => Math.floor(noise(entry) ** 2 * groups);
    const { first, list, start, length, entries } = inSlices(groups, window, count, groupOf, longest);
    const lists: number[][] = [];
    const windowOf = (n: number): number => Math.floor((first.findLastIndex((start) => start <= n) as number) / window);
    list.forEach((n, place) => {
      assert.equal(windowOf(n), windowOf(place));
      assert.ok(length[place] <= longest);
      lists[n] = Array.from({ length: length[place] }, (_, e) => entries[start[place] + SLICE * e]);
    });
    const expected = Array.from({ length: groups }, (_, g) => Array.from({ length: count }, (_, e) => e).filter((e) => groupOf(e) === g));
    assert.deepEqual(
      expected.map((_, g) => lists.slice(first[g], first[g + 1]).flat()),
      expected,
    );
    // No more lists than their lengths want.
    expected.forEach((all, g) => assert.equal(first[g + 1] - first[g], Math.max(1, Math.ceil(all.length / longest))));
    // Neighbouring lists begin side by side, and lists of like length share a slice.
    start.forEach((begin, place) => assert.equal(begin % SLICE, place % SLICE));
    if (window === groups) assert.deepEqual(length, length.slice().sort().reverse());
  });
