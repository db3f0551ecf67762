import assert from "node:assert/strict";
import { it } from "node:test";
import { print } from "../../../src/ir/print.js";
import { shareLoads } from "../../../src/ir/passes/share-loads.js";
import type { Stmt } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import { add, assign, cmp, define, f, i, kernel, load, local, mul, n, select, store, view, when } from "../build.js";

/** The statements after the pass, one a line. */
function shared(...body: Stmt[]): string[] {
  const after = shareLoads(kernel([view("x"), view("y"), view("at", 1, "i32")], body));
  verify(after);
  return print(after)
    .split("\n")
    .filter((line) => line && !/^kernel|^ {2}view/.test(line))
    .map((line) => line.slice(2));
}

const x = load("x", [i]);
const next = load("x", [add(i, n(1))]);
const far = load("x", [load("at", [i], "i32")]);

it("what is used again is loaded once, for inner blocks too", () => {
  assert.deepEqual(shared(define("a", add(x, x)), when(cmp("lt", next, f(0)), [store("y", [i], mul(x, local("a")))])), [
    "let x_1: f64 = x[i]",
    "let a: f64 = x_1 + x_1",
    "if x[i + 1] < 0.0",
    "  y[i] = x_1 * a",
  ]);
});

it("a block that alone uses it loads it, with what leads to it", () => {
  assert.deepEqual(shared(when(cmp("lt", next, f(0)), [store("y", [i], mul(far, far))])), [
    "if x[i + 1] < 0.0",
    "  let at_1: i32 = at[i]",
    "  let x_1: f64 = x[at_1]",
    "  y[i] = x_1 * x_1",
  ]);
});

it("what may not be loaded, may change or lies at a place that changes is left alone", () => {
  const choice = select(cmp("lt", next, f(0)), x, add(x, f(1)));
  assert.deepEqual(shared(store("y", [i], choice)), ["y[i] = x[i + 1] < 0.0 ? x[i] : x[i] + 1.0"]);
  const y = load("y", [i]);
  assert.deepEqual(shared(store("y", [i], add(y, y))), ["y[i] = y[i] + y[i]"]);
  const moved = load("x", [local("k", "i32")]);
  const moving = [define("k", n(1)), define("a", moved), assign("k", n(2)), store("y", [i], add(local("a"), moved))];
  assert.deepEqual(shared(...moving).slice(1), ["let a: f64 = x[k]", "k = 2", "y[i] = a + x[k]"]);
});
