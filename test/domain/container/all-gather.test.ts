import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { allGather } from "../../../src/domain/container/all-gather.js";

it("all members get all values in log2(members) rounds, each once, and handle as many messages as the others", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 40 }), (sizes) => {
      const begins = [0];
      for (const size of sizes) begins.push(begins.at(-1)! + size);
      const total = begins.at(-1)!;
      const held = sizes.map((size, m) => new Set(Array.from({ length: size }, (_, n) => begins[m] + n)));
      const rounds = allGather(sizes);
      assert.ok(rounds.length <= Math.ceil(Math.log2(sizes.length)));
      for (const round of rounds) {
        const before = held.map((each) => new Set(each));
        const sends = sizes.map(() => 0);
        for (const { from, to, first, end } of round) {
          assert.ok(from !== to && end > first);
          assert.ok(++sends[from] <= 2);
          for (let n = first; n < end; n++) {
            assert.ok(before[from].has(n), "a member sends what it has");
            assert.ok(!held[to].has(n), "nothing comes twice");
            held[to].add(n);
          }
        }
      }
      for (const each of held) assert.equal(each.size, total);
    }),
  );
  assert.deepEqual(allGather([5]), []);
  assert.deepEqual(allGather([0, 0, 0]), []);
});
