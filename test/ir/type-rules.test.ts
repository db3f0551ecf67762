import assert from "node:assert/strict";
import { test } from "node:test";
import { representable } from "../../src/ir/type-rules.js";

test("a value is representable where its type holds just that value", () => {
  const held = (type: Parameters<typeof representable>[0], ...values: (number | boolean)[]): boolean[] =>
    values.map((value) => representable(type, value));
  assert.deepEqual(held("bool", true, false, 1, 0), [true, true, false, false]);
  assert.deepEqual(held("i32", 0, -0, 2 ** 31 - 1, 2 ** 31, 0.5, true), [true, false, true, false, false, false]);
  assert.deepEqual(held("u32", 2 ** 32 - 1, 2 ** 32, -1, false), [true, false, false, false]);
  assert.deepEqual(held("f32", 0.5, -0, 0.1, NaN, true), [true, true, false, true, false]);
  assert.deepEqual(held("f64", 0.1, NaN, false), [true, true, false]);
});
