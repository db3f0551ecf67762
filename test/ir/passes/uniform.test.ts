import assert from "node:assert/strict";
import { test } from "node:test";
import { printKernel } from "../../../src/ir/kernel-text.js";
import type { Expr, KernelIR, Stmt } from "../../../src/ir/types.js";
import { hoistUniform } from "../../../src/ir/passes/uniform.js";
import { verify } from "../../../src/ir/verify.js";
import { add, assign, cast, define, div, f, i, kernel, load, local, mul, n, scalar, store, value, view, when } from "../build.js";

const a = scalar("a");
const s = load("s", [n(0)]);
const x = load("x", [i]);
const put = (to: Expr): Stmt => store("y", [i], to);
const params = [view("x"), view("y"), view("s"), value("a")];

/** The printed body, once `s` is known to be only read. */
function body(...stmts: Stmt[]): string[] {
  const hoisted: KernelIR = hoistUniform(kernel(params, stmts), (name) => name === "s");
  verify(hoisted);
  return printKernel(hoisted)
    .split("\n")
    .slice(1 + params.length, -1)
    .map((line) => line.trim());
}

test("the largest uniform expressions are computed once, at the top", () => {
  assert.deepEqual(body(put(mul(div(s, a), x)), put(add(x, div(s, a)))), [
    "let uniform: f64 = s[0] / a",
    "y[i] = uniform * x[i]",
    "y[i] = x[i] + uniform",
  ]);
});

test("locals with uniform values are seen through", () => {
  assert.deepEqual(body(define("b", div(s, a)), define("d", mul(local("b"), local("b"))), put(mul(local("d"), x))), [
    "let uniform: f64 = s[0] / a",
    "let uniform_1: f64 = uniform * uniform",
    "y[i] = uniform_1 * x[i]",
  ]);
});

test("plain parameters and constants stay where they are", () => {
  assert.deepEqual(body(put(mul(a, x)), put(add(x, f(2)))), ["y[i] = a * x[i]", "y[i] = x[i] + 2.0"]);
});

test("what changes, and views that may be written, are not uniform", () => {
  const changing = [define("b", a), when(scalarIsPositive(), [assign("b", mul(a, a))]), put(div(local("b"), x))];
  assert.deepEqual(body(...changing).at(-1), "y[i] = b / x[i]");
  assert.deepEqual(body(put(div(load("x", [n(0)]), a))), ["y[i] = x[0] / a"]);
  assert.deepEqual(body(put(mul(cast("f64", i), a))), ["y[i] = f64(i) * a"]);
});

function scalarIsPositive(): Expr {
  return { op: "compare", type: "bool", fn: "gt", a: x, b: f(0) };
}
