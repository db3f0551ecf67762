import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { piecesOf } from "../../../src/device/gpu/final-reduction.js";
import { cudaLanguage } from "../../../src/emit/c/cuda.js";
import { canSend, RECEIVERS } from "../../../src/schedule/mailbox.js";
import { hipLanguage } from "../../../src/emit/c/hip.js";

const BYTES = 8;
const placesFrom = (counts: readonly number[]) => counts.map((count, n) => ({ address: n * 1e9, count }));

describe("pieces of partials, one a block", () => {
  it("hold each partial once, in their order", () => {
    const counts = fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(counts, fc.constantFrom(cudaLanguage, hipLanguage), fc.integer({ min: 1, max: 8 }), (counts, language, members) => {
        const left = placesFrom(counts).filter(({ count }) => count > 0);
        for (const { address, count } of piecesOf(language, placesFrom(counts), BYTES, members)) {
          if (count === 0) continue;
          assert.equal(address, left[0].address);
          left[0].address += count * BYTES;
          left[0].count -= count;
          assert.ok(left[0].count >= 0);
          if (left[0].count === 0) left.shift();
        }
        assert.deepEqual(left, []);
      }),
      { seed: 1 },
    );
  });

  it("are what a block's threads ask for at once", () => {
    assert.deepEqual(
      piecesOf(cudaLanguage, placesFrom([4000]), BYTES, 1).map(({ count }) => count),
      [1536, 1536, 928],
    );
  });

  it("are as many as the GPUs' totals can be received at once, where partials are many", () => {
    for (const members of [1, 2, 4, 7]) {
      const { length } = piecesOf(cudaLanguage, placesFrom([262_144, 5]), BYTES, members);
      assert.ok(length * members <= RECEIVERS, `${length} of each of ${members}`);
    }
  });

  it("have totals that fit the words which a block can send", () => {
    assert.ok(canSend(4, 8));
    assert.ok(!canSend(5, 8));
  });
});
