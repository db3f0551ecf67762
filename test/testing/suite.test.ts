import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../../src/testing/index.js";

test("a number of the conformance suite belongs to one case, in f64 and f32", () => {
  const titles = new Map<number, Set<string>>();
  for (const { number, title, real } of suite) {
    const of = titles.get(number) ?? new Set();
    titles.set(number, of.add(real ? title.replace(`, in ${real}`, "") : title));
  }
  assert.deepEqual(
    [...titles].filter(([, of]) => of.size > 1),
    [],
  );
});
