import assert from "node:assert/strict";
import { it } from "node:test";
import { printKernel } from "../../../src/ir/kernel-text.js";
import { assignDirectly } from "../../../src/ir/passes/assign-directly.js";
import type { Stmt } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import { add, assign, cmp, define, f, i, kernel, leave, load, local, loop, mul, n, store, view, when } from "../build.js";

/** The statements after the pass, one a line. */
function direct(...body: Stmt[]): string[] {
  const after = assignDirectly(kernel([view("x"), view("y")], body));
  verify(after);
  return printKernel(after)
    .split("\n")
    .filter((line) => line && !/^kernel|^ {2}view/.test(line))
    .map((line) => line.slice(2));
}
const [a, b, s, t] = ["a", "b", "s", "t"].map((name) => local(name));
const start = [define("a", f(1)), define("b", f(2))];
const end = store("y", [i], add(a, b));

it("a value that is only handed on goes where it is wanted", () => {
  const turn = loop("k", n(0), n(9), [define("s", add(a, load("x", [i]))), define("t", add(b, f(3))), assign("a", s), assign("b", t)]);
  assert.deepEqual(direct(...start, turn, end).slice(2, -1), ["for k = 0 until 9", "  a = a + x[i]", "  b = b + 3.0"]);
});

it("a value that is read between, or once more, stays", () => {
  const swapped = [define("s", add(a, f(1))), define("t", mul(a, b)), assign("a", s), assign("b", t)];
  assert.deepEqual(direct(...start, ...swapped, end).slice(2, -1), ["let s: f64 = a + 1.0", "b = a * b", "a = s"]);
  const again = [define("s", add(a, f(1))), assign("a", s), store("y", [i], s)];
  assert.deepEqual(direct(...start, ...again, end).slice(2, 4), ["let s: f64 = a + 1.0", "a = s"]);
  const nested = [define("s", add(a, f(1))), when(cmp("lt", b, f(0)), [store("y", [i], a)]), assign("a", s)];
  assert.deepEqual(direct(...start, ...nested, end)[2], "let s: f64 = a + 1.0");
});

it("a variable that changes later is not taken for a value", () => {
  const changed = [define("s", f(0)), assign("s", load("x", [i])), assign("a", s)];
  assert.deepEqual(direct(...start, ...changed, end).slice(2, -1), ["let s: f64 = 0.0", "s = x[i]", "a = s"]);
});

it("nothing moves over a statement that control may leave by", () => {
  const leaving = loop("k", n(0), n(9), [define("s", add(a, f(1))), when(cmp("lt", b, f(0)), [leave()]), assign("a", s)]);
  assert.deepEqual(direct(...start, leaving, end)[3], "  let s: f64 = a + 1.0");
});

it("a variable that begins with a value that nothing else reads begins there", () => {
  const begun = [define("s", add(a, f(1))), define("t", b), define("c", s), assign("c", add(local("c"), t)), store("y", [i], local("c"))];
  assert.deepEqual(direct(...start, ...begun, end).slice(2, 5), ["let c: f64 = a + 1.0", "let t: f64 = b", "c = c + t"]);
});
