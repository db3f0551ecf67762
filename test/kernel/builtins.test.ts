import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mulhi, print } from "isoform";
import { withPrinter } from "../../src/kernel/builtins.js";

const word = fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.constantFrom(0, 0xffff, 0x10000, 0xfffeffff, 0x80000000, 0xffffffff));

test("mulhi is the upper half of the exact product", () => {
  fc.assert(
    fc.property(word, word, (a, b) => mulhi(a, b) === Number((BigInt(a) * BigInt(b)) >> 32n)),
    { seed: 1 },
  );
});

test("a line called as a plain function has its items with spaces between, and goes where the caller says until it ends", () => {
  const lines: string[] = [];
  const told = withPrinter(
    (line) => void lines.push(line),
    () => {
      print("x", -0, 0, -1, 1.5, true);
      print();
      return 7;
    },
  );
  assert.equal(told, 7);
  assert.deepEqual(lines, ["x -0 0 -1 1.5 true", ""]);
  const own = console.log;
  const shown: unknown[] = [];
  console.log = (line) => void shown.push(line);
  try {
    assert.throws(
      () =>
        withPrinter(
          () => undefined,
          () => assert.fail("ends"),
        ),
      /ends/,
    );
    print("after");
  } finally {
    console.log = own;
  }
  assert.deepEqual([lines.length, shown], [2, ["after"]]);
});
