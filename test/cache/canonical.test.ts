import assert from "node:assert/strict";
import test from "node:test";
import { canonicalText } from "../../src/cache/canonical.js";

test("equal data gives one text, however the engine keeps its numbers", () => {
  const whole = { a: 1, b: [2, 3] };
  const halves = { a: 0.5 + 0.5, b: Float64Array.of(2, 3).reduce<number[]>((list, each) => [...list, each], []) };
  assert.equal(canonicalText(whole), canonicalText(halves));
  assert.equal(canonicalText({ a: 1, b: undefined }), canonicalText({ a: 1 }));
});

test("other data gives another text, where JSON makes no difference, too", () => {
  const others: unknown[] = [0, -0, NaN, Infinity, -Infinity, null, undefined, "NaN", false, "", [], {}];
  const texts = [...others.map((value) => [value]), ...others.map((value) => [1, { a: [value, 0] }]), [[0], -0], [[-0], 0]].map(
    canonicalText,
  );
  assert.equal(new Set(texts).size, texts.length);
});

test("what is no plain data is refused", () => {
  class Point {
    x = 1;
  }
  for (const value of [() => 1, new Map(), new Float64Array(2), new Point(), Symbol("s")])
    assert.throws(() => canonicalText({ a: [value] }), TypeError);
});
