import assert from "node:assert/strict";
import { it } from "node:test";
import { printKernel } from "../../../src/ir/kernel-text.js";
import { shareLoads } from "../../../src/ir/passes/share-loads.js";
import type { Expr, Stmt } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import { add, assign, cast, cmp, define, f, i, kernel, leave, load, local, loop, mul, n, select, store, view, when } from "../build.js";

/** The statements after the pass, one a line. */
function shared(...body: Stmt[]): string[] {
  const after = shareLoads(kernel([view("x"), view("y"), view("at", 1, "i32")], body));
  verify(after);
  return printKernel(after)
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

const turn = local("t", "i32");
const sum = (...values: Expr[]): Stmt => assign("s", values.reduce(add, local("s")));
const looped = (start: Expr, stop: Expr, ...body: Stmt[]): string[] => shared(define("s", f(0)), loop("t", start, stop, body)).slice(1);

it("what each turn of a loop reads first thing is loaded before it, if there are turns", () => {
  assert.deepEqual(looped(n(0), n(3), sum(x, load("x", [turn]))), ["let x_1: f64 = x[i]", "for t = 0 until 3", "  s = s + x_1 + x[t]"]);
  assert.deepEqual(looped(n(0), load("at", [i], "i32"), sum(x)), [
    "let x_1: f64 = 0 < at[i] ? x[i] : 0.0",
    "for t = 0 until at[i]",
    "  s = s + x_1",
  ]);
});

it("a loop leaves to its turns what is read under conditions, after jumps, from places that change, what serves as an index, and what no turn reads", () => {
  const unchanged = (...body: Stmt[]): void => {
    const after = looped(n(0), n(3), ...body);
    assert.match(after[0], /^for/);
    assert.ok(after.some((line) => /x\[|at\[/.test(line)));
  };
  unchanged(when(cmp("lt", local("s"), f(1)), [sum(x)]));
  unchanged(when(cmp("lt", local("s"), f(1)), [leave()]), sum(x));
  unchanged(define("at_turn", turn), sum(load("x", [local("at_turn", "i32")])));
  unchanged(sum(load("y", [i])), store("y", [i], add(load("x", [turn]), f(1))));
  unchanged(sum(load("x", [load("at", [turn], "i32")])));
  unchanged(sum(cast("f64", load("at", [i], "i32"))));
  assert.match(looped(n(3), n(3), sum(x))[0], /^for/);
});

it("what a loop loads ahead is not what is read after it, where there may have been no turn", () => {
  const after = shared(define("s", f(0)), loop("t", n(0), load("at", [i], "i32"), [sum(x)]), store("y", [i], x));
  assert.equal(after[1], "let x_1: f64 = 0 < at[i] ? x[i] : 0.0");
  assert.deepEqual(after.slice(-2), ["let x_2: f64 = x[i]", "y[i] = x_2"]);
});
