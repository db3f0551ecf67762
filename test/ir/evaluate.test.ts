import assert from "node:assert/strict";
import { test } from "node:test";
import { binary, call, cast, compare, unary } from "../../src/ir/evaluate.js";

test("integers wrap, and division by zero gives zero", () => {
  assert.equal(binary("add", "i32", 2147483647, 1), -2147483648);
  assert.equal(binary("mul", "i32", 65537, 65537), 131073);
  assert.equal(binary("sub", "u32", 0, 1), 4294967295);
  assert.equal(binary("mul", "u32", 4294967295, 4294967295), 1);
  assert.equal(binary("mulhi", "u32", 4294967295, 4294967295), 4294967294);
  assert.equal(binary("div", "i32", -7, 2), -3);
  assert.equal(binary("div", "i32", 5, 0), 0);
  assert.equal(binary("div", "i32", -2147483648, -1), -2147483648);
  assert.equal(binary("rem", "i32", -7, 3), -1);
  assert.ok(Object.is(binary("rem", "i32", -6, 3), 0));
  assert.equal(binary("rem", "u32", 7, 0), 0);
  assert.equal(unary("abs", "i32", -2147483648), -2147483648);
  assert.equal(unary("neg", "u32", 1), 4294967295);
  assert.ok(Object.is(unary("neg", "i32", 0), 0));
});

test("shifts take their count modulo 32", () => {
  assert.equal(binary("shl", "i32", 1, 33), 2);
  assert.equal(binary("shr", "i32", -8, 1), -4);
  assert.equal(binary("shr", "u32", 4294967288, 1), 2147483644);
  assert.equal(binary("shl", "u32", 1, 31), 2147483648);
  assert.equal(unary("bitnot", "u32", 0), 4294967295);
  assert.equal(unary("clz", "i32", 0), 32);
});

test("floats keep zeros' signs and NaN, and f32 rounds", () => {
  assert.ok(Object.is(unary("neg", "f64", 0), -0));
  assert.ok(Object.is(binary("min", "f64", 0, -0), -0));
  assert.ok(Object.is(binary("max", "f64", NaN, 1), NaN));
  assert.ok(Object.is(binary("rem", "f64", -4, 2), -0));
  assert.equal(binary("add", "f32", 16777216, 1), 16777216);
  assert.equal(binary("div", "f32", 1, 3), Math.fround(1 / 3));
  assert.equal(call("exp", "f32", [1]), Math.fround(Math.E));
  assert.equal(call("exp2", "f64", [10]), 1024);
});

test("casts saturate, and NaN becomes 0 or false", () => {
  assert.equal(cast("i32", "f64", 3e9), 2147483647);
  assert.equal(cast("i32", "f64", -3e9), -2147483648);
  assert.equal(cast("u32", "f64", -1.5), 0);
  assert.equal(cast("u32", "f32", Infinity), 4294967295);
  assert.equal(cast("i32", "f64", NaN), 0);
  assert.ok(Object.is(cast("i32", "f64", -0.5), 0));
  assert.equal(cast("u32", "i32", -1), 4294967295);
  assert.equal(cast("i32", "u32", 4294967295), -1);
  assert.equal(cast("f32", "i32", 16777217), 16777216);
  assert.equal(cast("bool", "f64", NaN), false);
  assert.equal(cast("bool", "f64", -2), true);
  assert.equal(cast("f64", "bool", true), 1);
});

test("comparisons with NaN are false, but for !=", () => {
  assert.deepEqual(
    (["eq", "ne", "lt", "le", "gt", "ge"] as const).map((fn) => compare(fn, NaN, 1)),
    [false, true, false, false, false, false],
  );
  assert.equal(compare("eq", -0, 0), true);
});
