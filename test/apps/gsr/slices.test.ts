import assert from "node:assert/strict";
import { test } from "node:test";
import { SLICE, inSlices } from "../../../apps/gsr/slices.js";
import { noiseValue } from "../../../src/testing/values.js";

for (const [groups, each, count, longest] of [
  [1, 5, 5, Infinity],
  [7, 200, 200, Infinity],
  [100, 3000, 3000, Infinity],
  [25, 200, 777, Infinity],
  [64, 9, 0, 8],
  [1, 70, 70, 8],
  [7, 200, 200, 16],
  [25, 701, 3000, 20],
] as const)
  test(`${count} entries in windows of ${each}, of ${groups} groups each, ${longest} of a list at most`, () => {
    const groupOf = Int32Array.from({ length: count }, (_, entry) => Math.floor(noiseValue(entry) ** 2 * groups));
    const { first, list, start, length, entries } = inSlices({ groups, entries: each, groupOf }, longest);
    const windows = Math.max(1, Math.ceil(count / each));
    const lists: number[][] = [];
    const windowOf = (n: number): number => Math.floor(first.findLastIndex((begin) => begin <= n) / groups);
    list.forEach((n, place) => {
      assert.equal(windowOf(n), windowOf(place));
      assert.ok(length[place] <= longest);
      lists[n] = Array.from({ length: length[place] }, (_, e) => entries[start[place] + SLICE * e]);
    });
    const expected = Array.from({ length: windows * groups }, (_, g) =>
      Array.from({ length: count }, (_, e) => e).filter((e) => Math.floor(e / each) * groups + groupOf[e] === g),
    );
    assert.deepEqual(
      expected.map((_, g) => lists.slice(first[g], first[g + 1]).flat()),
      expected,
    );
    // No more lists than their lengths want; one for each group where lists have any length.
    expected.forEach((all, g) => assert.equal(first[g + 1] - first[g], longest === Infinity ? 1 : Math.ceil(all.length / longest)));
    // Neighbouring lists begin side by side, and lists of like length share a slice.
    start.forEach((begin, place) => assert.equal(begin % SLICE, place % SLICE));
    if (windows === 1) assert.deepEqual(length, length.slice().sort().reverse());
  });

test("lists change places within as many groups as asked", () => {
  const [groups, within, count] = [96, 24, 2000];
  const groupOf = Int32Array.from({ length: count }, (_, entry) => Math.floor(noiseValue(entry) ** 2 * groups));
  const { list, length, start, entries } = inSlices({ groups, entries: count, groupOf, within });
  list.forEach((n, place) => {
    assert.equal(Math.floor(n / within), Math.floor(place / within));
    assert.ok(place % within === 0 || length[place] <= length[place - 1]);
    for (let e = 0; e < length[place]; e++) assert.equal(groupOf[entries[start[place] + SLICE * e]], n);
  });
});
