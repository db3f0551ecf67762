import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluateBinary, evaluateCall, evaluateCast, evaluateComparison, evaluateUnary } from "../../src/ir/evaluate.js";

test("integers wrap, and division by zero gives zero", () => {
  assert.equal(evaluateBinary("add", "i32", 2147483647, 1), -2147483648);
  assert.equal(evaluateBinary("mul", "i32", 65537, 65537), 131073);
  assert.equal(evaluateBinary("sub", "u32", 0, 1), 4294967295);
  assert.equal(evaluateBinary("mul", "u32", 4294967295, 4294967295), 1);
  assert.equal(evaluateBinary("mulhi", "u32", 4294967295, 4294967295), 4294967294);
  assert.equal(evaluateBinary("div", "i32", -7, 2), -3);
  assert.equal(evaluateBinary("div", "i32", 5, 0), 0);
  assert.equal(evaluateBinary("div", "i32", -2147483648, -1), -2147483648);
  assert.equal(evaluateBinary("rem", "i32", -7, 3), -1);
  assert.ok(Object.is(evaluateBinary("rem", "i32", -6, 3), 0));
  assert.equal(evaluateBinary("rem", "u32", 7, 0), 0);
  assert.equal(evaluateUnary("abs", "i32", -2147483648), -2147483648);
  assert.equal(evaluateUnary("neg", "u32", 1), 4294967295);
  assert.ok(Object.is(evaluateUnary("neg", "i32", 0), 0));
});

test("shifts take their count modulo 32", () => {
  assert.equal(evaluateBinary("shl", "i32", 1, 33), 2);
  assert.equal(evaluateBinary("shr", "i32", -8, 1), -4);
  assert.equal(evaluateBinary("shr", "u32", 4294967288, 1), 2147483644);
  assert.equal(evaluateBinary("shl", "u32", 1, 31), 2147483648);
  assert.equal(evaluateUnary("bitnot", "u32", 0), 4294967295);
  assert.equal(evaluateUnary("clz", "i32", 0), 32);
});

test("floats keep zeros' signs and NaN, and f32 rounds", () => {
  assert.ok(Object.is(evaluateUnary("neg", "f64", 0), -0));
  assert.ok(Object.is(evaluateBinary("min", "f64", 0, -0), -0));
  assert.ok(Object.is(evaluateBinary("max", "f64", NaN, 1), NaN));
  assert.ok(Object.is(evaluateBinary("rem", "f64", -4, 2), -0));
  assert.equal(evaluateBinary("add", "f32", 16777216, 1), 16777216);
  assert.equal(evaluateBinary("div", "f32", 1, 3), Math.fround(1 / 3));
  assert.equal(evaluateCall("exp", "f32", [1]), Math.fround(Math.E));
  assert.equal(evaluateCall("exp2", "f64", [10]), 1024);
});

test("casts saturate, and NaN becomes 0 or false", () => {
  assert.equal(evaluateCast("i32", "f64", 3e9), 2147483647);
  assert.equal(evaluateCast("i32", "f64", -3e9), -2147483648);
  assert.equal(evaluateCast("u32", "f64", -1.5), 0);
  assert.equal(evaluateCast("u32", "f32", Infinity), 4294967295);
  assert.equal(evaluateCast("i32", "f64", NaN), 0);
  assert.ok(Object.is(evaluateCast("i32", "f64", -0.5), 0));
  assert.equal(evaluateCast("u32", "i32", -1), 4294967295);
  assert.equal(evaluateCast("i32", "u32", 4294967295), -1);
  assert.equal(evaluateCast("f32", "i32", 16777217), 16777216);
  assert.equal(evaluateCast("bool", "f64", NaN), false);
  assert.equal(evaluateCast("bool", "f64", -2), true);
  assert.equal(evaluateCast("f64", "bool", true), 1);
});

test("comparisons with NaN are false, but for !=", () => {
  assert.deepEqual(
    (["eq", "ne", "lt", "le", "gt", "ge"] as const).map((fn) => evaluateComparison(fn, NaN, 1)),
    [false, true, false, false, false, false],
  );
  assert.equal(evaluateComparison("eq", -0, 0), true);
});
