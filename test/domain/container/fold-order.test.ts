import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LEAF_PLANES, foldedSpans, listOf, push, shareGroups, groupsOf, type FoldEntry } from "../../../src/domain/container/fold-order.js";
import { foldChunk, strictFold } from "../../../src/testing/strict-fold.js";
import { noise } from "../sets.js";
import { randomCuts, whole } from "../cuts.js";
import { foldPlanes } from "../plane-fold.js";

/** The list of a range of planes, from whatever lists it was joined. */
const rangeEntries = (range: readonly [number, number]) => listOf(foldedSpans(range));

const TRIALS = 200;
const add = (a: number, b: number): number => a + b;
const value = (n: number, seed: number): number => noise(n, seed) * 10 ** (8 * noise(seed, n, 1));

/** Entries with their values. */
interface Known {
  readonly list: readonly FoldEntry[];
  readonly values: readonly number[];
}

/** Pushes entries with their values by the counts that `push` gives. */
function pushed(left: Known, right: Known): Known {
  const { list, merges, longest } = push(left.list, right.list);
  const values = [...left.values];
  right.values.forEach((one, n) => {
    let last = one;
    for (let k = 0; k < merges[n]; k++) last = add(values.pop()!, last);
    values.push(last);
    assert.ok(values.length <= longest);
  });
  assert.equal(values.length, list.length);
  return { list, values };
}

/** What is known of planes [first, end). */
const known = (planes: readonly number[], first: number, end: number): Known => {
  const parts = foldedSpans([first, end]);
  return pushed(
    { list: [], values: [] },
    { list: parts.map(({ entry }) => entry), values: parts.map(({ span: [from, to] }) => planes.slice(from, to).reduce(add)) },
  );
};

const root = ({ values }: Known): number => values.reduceRight((right, left) => add(left, right));

describe("the order of folds over planes", () => {
  it("gives the tree over leaves for any cuts, joined in any order", () => {
    for (let seed = 0; seed < TRIALS; seed++) {
      const count = whole(2, 700, seed, 1);
      const cuts = randomCuts(count, whole(1, Math.min(64, count), seed, 2), seed);
      const planes = Array.from({ length: count }, (_, n) => value(n, seed));
      const lists = cuts.slice(1).map((end, m) => known(planes, cuts[m], end));
      lists.forEach(({ list }, m) => assert.deepEqual(list, rangeEntries([cuts[m], cuts[m + 1]]).list));
      for (let step = 0; lists.length > 1; step++) {
        const at = whole(0, lists.length - 2, seed, 3, step);
        lists.splice(at, 2, pushed(lists[at], lists[at + 1]));
      }
      assert.deepEqual(lists[0].list, rangeEntries([0, count]).list);
      assert.equal(root(lists[0]), foldPlanes(planes, add), `seed ${seed}: ${count} planes, cut at ${cuts}`);
    }
  });

  it("keeps lists short", () => {
    for (let first = 0; first < 64; first++)
      for (const planes of [1, 5, 8, 64, 1000, 100_000]) {
        const { list, longest } = rangeEntries([first, first + planes]);
        const most = LEAF_PLANES - 1 + 2 * Math.ceil(Math.log2(planes / LEAF_PLANES + 2)) + 1;
        assert.ok(list.length <= most && longest <= most + 1, `[${first}, ${first + planes}): ${list.length}, ${longest}`);
      }
  });

  it("numbers leaves from the first plane, and cuts off the last one", () => {
    const kinds = (first: number, end: number): string => rangeEntries([first, end]).list.map((entry) => entry.kind).join(" "); // prettier-ignore
    assert.equal(kinds(0, 8), "node");
    assert.equal(kinds(0, 7), "begin");
    assert.equal(kinds(6, 9), "plane plane begin");
    assert.equal(kinds(8, 24), "node node");
    assert.equal(kinds(16, 34), "node begin");
  });
});

describe("the order of folds over partials", () => {
  const chunk = 256;
  for (const most of [300, 5000, 100_000])
    it(`has the bits of one line of up to ${most} partials for any cuts`, () => {
      for (let seed = 0; seed < (most > 5000 ? 10 : TRIALS / 4); seed++) {
        const count = whole(2, most, seed, 4);
        const cuts = randomCuts(count, whole(1, Math.min(16, count), seed, 5), seed);
        const values = Array.from({ length: count }, (_, n) => value(n, seed));
        const { folded, messages } = shareGroups(cuts);
        // What each member holds: its own partials, and what messages bring.
        const held = cuts.slice(1).map((end, m) => new Map(values.slice(cuts[m], end).map((one, n) => [cuts[m] + n, one])));
        for (const { from, to, partials } of messages)
          for (let n = partials[0]; n < partials[1]; n++) {
            assert.ok(n >= cuts[from] && n < cuts[from + 1] && from > to);
            held[to].set(n, values[n]);
          }
        const groups: number[] = [];
        folded.forEach(([first, end], m) => {
          if (first === end) return;
          assert.ok(first >= cuts[m] && first < cuts[m + 1] && first % chunk === 0 && (end % chunk === 0 || end === count));
          const [begin, stop] = groupsOf([first, end]);
          for (let group = begin; group < stop; group++) {
            const places = Array.from({ length: Math.min(chunk, count - group * chunk) }, (_, n) => group * chunk + n);
            assert.equal(groups.push(foldChunk(places.map((n) => held[m].get(n)!), add, 0)), group + 1); // prettier-ignore
          }
        });
        assert.equal(groups.length, Math.ceil(count / chunk));
        const found = groups.length === 1 ? groups[0] : strictFold([groups], add, 0);
        assert.equal(found, strictFold([values], add, 0), `seed ${seed}: ${count} partials, cut at ${cuts}`);
        assert.ok(messages.length < cuts.length - 1);
      }
    });
});
