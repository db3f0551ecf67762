import { test } from "node:test";
import fc from "fast-check";
import { mulhi } from "isoform";

const word = fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.constantFrom(0, 0xffff, 0x10000, 0xfffeffff, 0x80000000, 0xffffffff));

test("mulhi is the upper half of the exact product", () => {
  fc.assert(
    fc.property(word, word, (a, b) => mulhi(a, b) === Number((BigInt(a) * BigInt(b)) >> 32n)),
    { seed: 1 },
  );
});
