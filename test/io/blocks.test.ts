import assert from "node:assert/strict";
import { test } from "node:test";
import { areInOrder, atPlaces, inBlocks, joined, onlyIn, requireCover, runOf, valuesIn, type FileBlock } from "../../src/io/blocks.js";
import type { StoredArray } from "../../src/io/state-file.js";

/* Boxes of an array of 4 planes of 6 rows of 5 values, which three ranks have: two with rows 0 to 2 and 2 to 6 of planes 0 to 3, one with the last plane. */

const [PLANE, ROW] = [30, 5];
const RANKS: readonly (readonly FileBlock[])[] = [[[0, 2 * ROW, 3, PLANE]], [[2 * ROW, 4 * ROW, 3, PLANE]], [runOf(3 * PLANE, PLANE)]];
const LENGTH = 4 * PLANE;
const ALL = Float64Array.from({ length: LENGTH }, (_, n) => n);

/** The values of blocks, one after the other; `asked` has how many were read. */
function stored(blocks: readonly FileBlock[], asked: number[] = []): StoredArray {
  const values = Float64Array.from(
    blocks.flatMap(([first, length, times, stride]) =>
      Array.from({ length: length * times }, (_, n) => first + Math.floor(n / length) * stride + (n % length)),
    ),
  );
  return {
    type: "f64",
    length: values.length,
    values: async (first = 0, end = values.length) => {
      asked.push(end - first);
      return values.slice(first, end);
    },
  };
}

test("any run of an array in blocks has its values, and none other is read", async () => {
  const asked: number[] = [];
  const array = inBlocks(
    "f64",
    LENGTH,
    RANKS.map((blocks) => ({ blocks, open: async () => stored(blocks, asked) })),
  );
  for (let first = 0; first <= LENGTH; first++)
    for (let end = first; end <= LENGTH; end += 7) {
      asked.length = 0;
      assert.deepEqual([...(await array.values(first, end))], [...ALL.subarray(first, end)], `${first} to ${end}`);
      assert.equal(
        asked.reduce((a, b) => a + b, 0),
        end - first,
      );
    }
  assert.deepEqual([...(await array.values())], [...ALL]);
});

test("of an array with one block's values all others are 0, and not read", async () => {
  const asked: number[] = [];
  const block: FileBlock = [2 * ROW, 4 * ROW, 4, PLANE];
  const array = onlyIn(block, stored([runOf(0, LENGTH)], asked));
  const expected = ALL.map((n) => (n % PLANE >= 2 * ROW ? n : 0));
  for (let first = 0; first <= LENGTH; first += 3)
    for (let end = first; end <= LENGTH; end += 11)
      assert.deepEqual([...(await array.values(first, end))], [...expected.subarray(first, end)], `${first} to ${end}`);
  asked.length = 0;
  await array.values();
  assert.equal(
    asked.reduce((a, b) => a + b, 0),
    valuesIn([block]),
  );
});

test("values that come in pieces of any length get their places", async () => {
  const blocks = RANKS[1];
  for (const step of [1, 7, 20, 33, 60]) {
    const found = new Float64Array(LENGTH);
    async function* pieces(): AsyncGenerator<Float64Array> {
      const values = (await stored(blocks).values()) as Float64Array;
      for (let at = 0; at < values.length; at += step) yield values.subarray(at, at + step);
    }
    for await (const { first, values } of atPlaces(pieces(), blocks)) found.set(values, first);
    assert.deepEqual(
      found,
      ALL.map((n) => (n < 3 * PLANE && n % PLANE >= 2 * ROW ? n : 0)),
      `${step}`,
    );
  }
});

test("blocks without a gap become one, and empty ones go", () => {
  assert.deepEqual(joined([[0, PLANE, 2, PLANE], runOf(2 * PLANE, 0), runOf(2 * PLANE, 7)]), [runOf(0, 2 * PLANE + 7)]);
  assert.deepEqual(joined([[0, ROW, 2, PLANE], runOf(PLANE + ROW, 3)]), [
    [0, ROW, 2, PLANE],
    [PLANE + ROW, 3, 1, 0],
  ]);
  assert.ok(areInOrder([[runOf(0, 4)], [], [runOf(4, 2)]]));
  assert.ok(!areInOrder([[runOf(4, 2)], [runOf(0, 4)]]));
  assert.ok(!areInOrder(RANKS));
});

test("blocks that leave out values, or have some twice, are refused with the rank", () => {
  requireCover(RANKS, LENGTH);
  assert.throws(() => requireCover(RANKS.slice(0, 2), LENGTH), /2 ranks give 90 of the 120 values of an array/);
  assert.throws(
    () => requireCover([RANKS[0], RANKS[2]], LENGTH),
    /rank 0 gives values of an array from 30 on, and the ranks before end at 10/,
  );
  assert.throws(() => requireCover([...RANKS, [runOf(PLANE, 1)]], LENGTH), /rank 3 gives values of an array from 30 on, and .* end at 40/);
});
