import assert from "node:assert/strict";
import { it } from "node:test";
import { simplify } from "../../src/ir/simplify.js";
import type { BinaryFn, Expr } from "../../src/ir/types.js";
import { add, bin, c, call, cast, div, f, load, local, mul, n, sub, un } from "./build.js";

const [x, y] = [local("x", "i32"), local("y", "i32")];
const z = local("z");

it("integers lose operands that change nothing, on either side", () => {
  const both: readonly BinaryFn[] = ["add", "or", "xor"];
  for (const fn of both) {
    assert.deepEqual(simplify(bin(fn, x, n(0))), x, fn);
    assert.deepEqual(simplify(bin(fn, n(0), x)), x, fn);
  }
  for (const fn of ["sub", "shl", "shr"] as const) {
    assert.deepEqual(simplify(bin(fn, x, n(0))), x, fn);
    assert.deepEqual(simplify(bin(fn, n(0), x)), bin(fn, n(0), x), fn);
  }
  for (const fn of ["mul", "and"] as const) {
    assert.deepEqual(simplify(bin(fn, x, n(0))), n(0), fn);
    assert.deepEqual(simplify(bin(fn, n(0), x)), n(0), fn);
  }
  assert.deepEqual(simplify(mul(x, n(1))), x);
  assert.deepEqual(simplify(mul(n(1), x)), x);
  assert.deepEqual(simplify(div(x, n(1))), x);
  assert.deepEqual(simplify(div(n(1), x)), div(n(1), x));
});

it("constants of integer sums are gathered at the right, without a sign", () => {
  for (const [given, expected] of [
    [add(n(2), x), add(x, n(2))],
    [sub(add(x, n(2)), n(3)), sub(x, n(1))],
    [add(sub(x, n(2)), n(3)), add(x, n(1))],
    [add(add(x, n(2)), n(-2)), x],
    [sub(x, n(-2)), add(x, n(2))],
    [add(x, n(-2)), sub(x, n(2))],
    [add(x, n(-2147483648)), add(x, n(-2147483648))],
    [add(add(x, n(2147483647)), n(1)), add(x, n(-2147483648))],
    [add(x, y), add(x, y)],
    [add(add(x, y), n(1)), add(add(x, y), n(1))],
  ])
    assert.deepEqual(simplify(given), expected);
});

it("small powers become products, others stay calls", () => {
  const power = (e: Expr, exponent: number): Expr => call("pow", e, f(exponent));
  assert.deepEqual(simplify(power(z, 1)), z);
  assert.deepEqual(simplify(power(z, 2)), mul(z, z));
  assert.deepEqual(simplify(power(z, 3)), mul(mul(z, z), z));
  for (const kept of [power(z, 4), power(z, 0), power(div(z, z), 2), power(call("exp", z), 2)]) assert.deepEqual(simplify(kept), kept);
  const whole = (exponent: number): Expr => call("powi", z, n(exponent));
  const z4 = mul(mul(z, z), mul(z, z));
  assert.deepEqual(simplify(whole(0)), f(1));
  assert.deepEqual(simplify(whole(1)), z);
  assert.deepEqual(simplify(whole(4)), z4);
  assert.deepEqual(simplify(whole(5)), mul(z, z4));
  assert.deepEqual(simplify(whole(-2)), div(f(1), mul(z, z)));
});

it("negations cancel out, other functions of the same function stay", () => {
  for (const [fn, e] of [
    ["neg", z],
    ["neg", x],
    ["bitnot", x],
    ["not", local("b", "bool")],
  ] as const)
    assert.deepEqual(simplify(un(fn, un(fn, e))), e, fn);
  const root = un("sqrt", un("sqrt", z));
  assert.deepEqual(simplify(root), root);
});

it("casts there and back are left out where nothing is lost", () => {
  assert.deepEqual(simplify(cast("i32", x)), x);
  assert.deepEqual(simplify(cast("f64", n(3))), f(3));
  assert.deepEqual(simplify(cast("i32", cast("f64", x))), x);
  const single = load("w", [x], "f32");
  assert.deepEqual(simplify(cast("f32", cast("f64", single))), single);
  const lossy = cast("f64", cast("f32", z));
  assert.deepEqual(simplify(lossy), lossy);
  const rounded = cast("i32", cast("f32", x));
  assert.deepEqual(simplify(rounded), rounded);
  assert.deepEqual(simplify(cast("i32", c("u32", 4294967295))), n(-1));
});
