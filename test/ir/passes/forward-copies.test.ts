import assert from "node:assert/strict";
import { it } from "node:test";
import { printKernel } from "../../../src/ir/kernel-text.js";
import { forwardCopies } from "../../../src/ir/passes/forward-copies.js";
import type { Stmt } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import { add, assign, cmp, define, f, i, kernel, load, local, loop, n, store, view, when } from "../build.js";

/** The statements after the pass, one a line. */
function forwarded(...body: Stmt[]): string[] {
  const after = forwardCopies(kernel([view("x"), view("y")], body));
  verify(after);
  return printKernel(after)
    .split("\n")
    .filter((line) => line && !/^kernel|^ {2}view/.test(line))
    .map((line) => line.slice(2));
}
const [a, b, s, t] = ["a", "b", "s", "t"].map((name) => local(name));
const start = [define("a", load("x", [i])), define("b", f(2))];
const end = store("y", [i], add(a, b));

it("a copy is read where it was made of, and copies of copies", () => {
  assert.deepEqual(forwarded(...start, define("s", a), define("t", s), store("y", [i], add(t, s))).slice(2), ["y[i] = a + a"]);
  const inside = loop("k", n(0), n(9), [define("t", a), store("y", [i], t)]);
  assert.deepEqual(forwarded(...start, define("s", b), inside, store("x", [i], s)).slice(2), [
    "for k = 0 until 9",
    "  y[i] = a",
    "x[i] = b",
  ]);
});

it("until the variable changes, which its own assignment does last", () => {
  assert.deepEqual(forwarded(...start, define("s", a), assign("a", add(s, b)), end).slice(2), ["a = a + b", "y[i] = a + b"]);
  assert.deepEqual(forwarded(...start, define("s", a), assign("a", b), store("y", [i], s), end).slice(2, 4), ["let s: f64 = a", "a = b"]);
  const branch = when(cmp("lt", b, f(0)), [assign("a", f(1)), store("y", [i], s)]);
  assert.equal(forwarded(...start, define("s", a), branch, end)[2], "let s: f64 = a");
});

it("a copy of a copy lives as long as the first variable keeps its value", () => {
  const chain = [define("s", a), define("t", s), assign("a", f(1)), store("y", [i], t)];
  assert.deepEqual(forwarded(...start, ...chain, end).slice(2, -1), ["let t: f64 = a", "a = 1.0", "y[i] = t"]);
  const within = loop("k", n(0), n(9), [define("t", s), assign("a", add(a, f(1))), store("y", [i], t)]);
  assert.deepEqual(forwarded(...start, define("s", a), within, end).slice(2, 5), ["let s: f64 = a", "for k = 0 until 9", "  a = a + 1.0"]);
});

it("a copy that changes stays", () => {
  const changed = [define("s", a), assign("s", add(s, f(1))), store("y", [i], s)];
  assert.equal(forwarded(...start, ...changed, end)[2], "let s: f64 = a");
});
