import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { copysign, f64, i32, kernel, mulhi, powi, print, u32, view } from "isoform";
import { lowered } from "./lowered.js";
import { withPrinter } from "../../src/kernel/declare/builtins.js";

const word = fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.constantFrom(0, 0xffff, 0x10000, 0xfffeffff, 0x80000000, 0xffffffff));

test("mulhi is the upper half of the exact product", () => {
  fc.assert(
    fc.property(word, word, (a, b) => mulhi(a, b) === Number((BigInt(a) * BigInt(b)) >> 32n)),
    { seed: 1 },
  );
});

test("each function is taken with all of its arguments", () => {
  const all = kernel("all", { x: view(f64), k: view(u32), n: view(i32) }, ({ x, k, n }, i) => {
    x[i] = copysign(powi(x[i], 5), Math.sign(x[i])) + Math.fround(x[i]) + Math.max(x[i], 1, 2);
    k[i] = mulhi(k[i], 7);
    n[i] = Math.imul(n[i], 3) + Math.clz32(k[i]) + (Math.round(x[i]) | 0);
  });
  const text = lowered(all);
  for (const word of ["copysign", "powi", "sign", "mulhi", "clz", "f32"]) assert.ok(text.includes(word), `${word} in ${text}`);
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
