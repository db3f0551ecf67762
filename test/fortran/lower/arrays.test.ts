import assert from "node:assert/strict";
import { it } from "node:test";
import { constantLength } from "../../../src/fortran/lower/arrays.js";
import { add, local, n } from "../../ir/build.js";

it("the length of an array is the product of its constant extents, 0 where one is less", () => {
  assert.equal(constantLength([]), 1);
  assert.equal(constantLength([n(3)]), 3);
  assert.equal(constantLength([n(3), n(4)]), 12);
  assert.equal(constantLength([n(3), n(-2)]), 0);
  assert.equal(constantLength([n(3), undefined]), undefined);
  assert.equal(constantLength([add(local("k", "i32"), n(1))]), undefined);
});
