import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Heap } from "../../../src/skeleton/run/heap.js";

test("a heap gives its values in order, however pushes and pops are mixed", () => {
  const actions = fc.array(fc.option(fc.integer({ min: 0, max: 20 })), { maxLength: 200 });
  const check = (list: readonly (number | null)[]): void => {
    const heap = new Heap<number>((a, b) => a < b);
    const kept: number[] = [];
    for (const value of [...list, ...list.map(() => null)]) {
      if (value === null) assert.equal(heap.pop(), kept.sort((a, b) => a - b).shift());
      else {
        heap.push(value);
        kept.push(value);
      }
    }
  };
  fc.assert(fc.property(actions, check), { numRuns: 300, seed: 1 });
});
