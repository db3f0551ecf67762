import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { partition } from "../../../src/domain/grid/partition.js";

describe("partitions", () => {
  it("have about equal numbers of active cells", () => {
    const cells = (planes: number[], members: number) => partition(planes, members).map((p) => p.planes);
    assert.deepEqual(cells(Array<number>(64).fill(9), 4), [16, 16, 16, 16]);
    assert.deepEqual(cells([100, 0, 0, 0, 50, 50], 2), [4, 2]);
    assert.deepEqual(cells([1, 1, 1, 97], 2), [3, 1]);
    assert.deepEqual(partition([1, 2, 3, 4], 2), [
      { device: 0, first: 0, planes: 3, cells: 6 },
      { device: 1, first: 3, planes: 1, cells: 4 },
    ]);
  });

  it("cover all planes in order, with as many in each as asked for, from multiples of the step on", () => {
    const planes = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 60 });
    const small = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(planes, fc.integer({ min: 1, max: 8 }), small, small, (counts, members, least, step) => {
        const narrowest = Math.ceil(least / step);
        fc.pre(Math.ceil(counts.length / step) >= members * narrowest);
        const parts = partition(counts, members, least, step);
        assert.equal(parts.length, members);
        let next = 0;
        for (const { first, planes, cells, device } of parts) {
          assert.equal(first, next);
          assert.equal(first % step, 0);
          assert.ok(planes >= least || device === members - 1);
          assert.equal(
            cells,
            counts.slice(first, first + planes).reduce((a, b) => a + b, 0),
          );
          next = first + planes;
        }
        assert.equal(next, counts.length);
      }),
      { seed: 1 },
    );
  });

  it("refuse more members than planes", () => {
    assert.throws(() => partition([5, 5], 3), {
      name: "LaunchError",
      message: /^2 planes for 3 members: each needs at least 1; use fewer devices/,
    });
    assert.throws(() => partition([5, 5, 5], 2, 2), /^LaunchError: 3 planes for 2 members: each needs at least 2/);
  });
});
