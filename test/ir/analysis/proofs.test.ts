import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { unprovedAccesses, type LaunchFacts } from "../../../src/ir/analysis/proofs.js";
import type { Expr, Stmt } from "../../../src/ir/types.js";
import {
  add,
  and,
  array,
  assign,
  bin,
  c,
  cast,
  cmp,
  define,
  element,
  f,
  i,
  kernel,
  load,
  local,
  loop,
  loopWhile,
  mul,
  n,
  or,
  scalar,
  select,
  setElement,
  store,
  sub,
  un,
  value,
  view,
  when,
} from "../build.js";

/** 100 elements of x, 50 elements of the range, and any numbers in `at`. */
const known: LaunchFacts = {
  range: (atom) => (atom === "index:0" ? [0, 49] : undefined),
  shape: (name) => ({ x: [100], y: [50], at: [50], p: [4], m: [10, 20] })[name]!,
  trusted: () => false,
};
const params = [view("x"), view("y"), view("at", 1, "i32"), view("m", 2), value("w", "i32")];
const [q, k, w] = [local("q", "i32"), local("k", "i32"), scalar("w", "i32")];
const y = (of: Expr): Stmt => store("y", [i], of);
const x = (at: Expr): Expr => load("x", [at]);
/** A number of which nothing is known. */
const any = define("q", load("at", [i], "i32"));

/** Arrays, and axes, of accesses that may be outside. */
function unproved(body: Stmt[], more: Partial<LaunchFacts> = {}): string[] {
  const found = unprovedAccesses(kernel(params, body), { ...known, ...more });
  return [...found].map(([node, { axes }]) => {
    const name = "view" in node ? node.view : "array" in node ? node.array : "?";
    return `${name} ${axes.join()}`;
  });
}

describe("accesses are proved", () => {
  const proved: Readonly<Record<string, Stmt[]>> = {
    "by the range": [y(x(add(i, n(50))))],
    "by the range, downwards": [y(x(sub(n(49), i)))],
    "by a sum of it": [y(x(add(mul(i, n(2)), n(1))))],
    "by a condition on a number": [any, when(and(cmp("ge", q, n(0)), cmp("lt", q, n(100))), [y(x(q))])],
    "by a condition with the sides exchanged": [any, when(and(cmp("le", n(0), q), cmp("gt", n(100), q)), [y(x(q))])],
    "by the opposite of a condition": [any, when(or(cmp("lt", q, n(0)), cmp("gt", q, n(99))), [], [y(x(q))])],
    "by a negated condition": [any, when(un("not", or(cmp("lt", q, n(0)), cmp("ge", q, n(100)))), [y(x(q))])],
    "by a condition that has a name": [
      any,
      define("inside", and(cmp("ge", q, n(0)), cmp("lt", q, n(100)))),
      when(local("inside", "bool"), [y(x(q))]),
    ],
    "by conditions around each other": [any, when(cmp("ge", q, n(0)), [when(cmp("lt", q, n(100)), [y(x(q))])])],
    "by an equality": [any, when(cmp("eq", q, n(99)), [y(x(q))])],
    "by the condition of a choice": [any, y(select(and(cmp("ge", q, n(0)), cmp("lt", q, n(100))), x(q), f(0)))],
    "by the first part of a conjunction": [any, define("ok", and(and(cmp("ge", q, n(0)), cmp("lt", q, n(100))), cmp("gt", x(q), f(0))))],
    "by the first part of a disjunction": [any, define("ok", or(or(cmp("lt", q, n(0)), cmp("gt", q, n(99))), cmp("gt", x(q), f(0))))],
    "by the bounds of a loop": [loop("k", n(0), n(100), [y(x(k))])],
    "by the bounds of a loop with steps": [loop("k", n(1), n(99), [y(add(x(k), x(add(k, n(1)))))], 2)],
    "by the bounds of a loop downwards": [loop("k", n(99), n(-1), [y(x(k))], -1)],
    "by a loop up to the element": [loop("k", n(0), i, [y(x(add(k, n(51))))])],
    "by the condition of a while loop": [any, loopWhile(and(cmp("ge", q, n(0)), cmp("lt", q, n(100))), [y(x(q))])],
    "by minima and maxima": [any, y(x(bin("min", bin("max", q, n(0)), n(99))))],
    "by a remainder": [any, when(cmp("ge", q, n(0)), [y(x(bin("rem", q, n(100))))])],
    "by a mask": [any, y(x(bin("and", q, n(63))))],
    "by a choice of two": [any, y(x(select(cmp("gt", q, n(7)), n(3), n(99))))],
    "of private arrays": [array("p", 4), setElement("p", n(3), f(1)), y(element("p", n(0)))],
  };
  for (const [how, body] of Object.entries(proved)) it(how, () => assert.deepEqual(unproved(body), []));
});

describe("accesses are not proved", () => {
  const left: Readonly<Record<string, [Stmt[], ...string[]]>> = {
    "beyond the end": [[y(x(add(i, n(51))))], "x 0"],
    "before the beginning": [[y(x(sub(i, n(1))))], "x 0"],
    "by a number of which nothing is known": [[any, y(x(q))], "x 0"],
    "by half of a condition": [[any, when(cmp("ge", q, n(0)), [y(x(q))])], "x 0"],
    "by the other half": [[any, when(cmp("lt", q, n(100)), [y(x(q))])], "x 0"],
    "by a condition that is one too weak": [[any, when(and(cmp("ge", q, n(0)), cmp("le", q, n(100))), [y(x(q))])], "x 0"],
    "by one that is one too weak below": [[any, when(and(cmp("ge", q, n(-1)), cmp("lt", q, n(100))), [y(x(q))])], "x 0"],
    "where the condition fails": [[any, when(and(cmp("ge", q, n(0)), cmp("lt", q, n(100))), [], [y(x(q))])], "x 0"],
    "by a disjunction": [[any, when(or(cmp("ge", q, n(0)), cmp("lt", q, n(100))), [y(x(q))])], "x 0"],
    "by an inequality": [[any, when(cmp("ne", q, n(99)), [y(x(q))])], "x 0"],
    "after the condition": [[any, when(and(cmp("ge", q, n(0)), cmp("lt", q, n(100))), []), y(x(q))], "x 0"],
    "by a condition whose side may wrap": [[any, when(and(cmp("gt", add(q, n(1)), n(0)), cmp("lt", q, n(100))), [y(x(q))])], "x 0"],
    "by a variable that changes": [
      [define("q", n(0)), assign("q", load("at", [i], "i32")), when(and(cmp("ge", q, n(0)), cmp("lt", q, n(100))), [y(x(q))])],
      "x 0",
    ],
    "by a loop that goes one too far": [[loop("k", n(0), n(101), [y(x(k))])], "x 0"],
    "by a loop from before the beginning": [[loop("k", n(-1), n(100), [y(x(k))])], "x 0"],
    "by a loop downwards from the end": [[loop("k", n(100), n(-1), [y(x(k))], -1)], "x 0"],
    "by a loop to a parameter": [[loop("k", n(0), w, [y(x(k))])], "x 0"],
    "by a remainder of what may be negative": [[any, y(x(bin("rem", q, n(100))))], "x 0"],
    "by a product that may wrap": [[any, when(cmp("ge", q, n(0)), [y(x(mul(q, q)))])], "x 0"],
    "along one axis": [[any, y(load("m", [n(9), q]))], "m 1"],
    "along both": [[any, y(load("m", [n(10), n(20)]))], "m 0,1"],
    "in stores": [[store("y", [add(i, n(1))], f(1))], "y 0"],
    "of private arrays": [[array("p", 4), setElement("p", n(4), f(1)), y(element("p", n(-1)))], "p 0", "p 0"],
  };
  for (const [how, [body, ...found]] of Object.entries(left)) it(how, () => assert.deepEqual(unproved(body), found));

  it("but axes that are right by construction are trusted", () =>
    assert.deepEqual(unproved([any, y(load("m", [q, q]))], { trusted: (name, axis) => name === "m" && axis === 0 }), ["m 1"]));

  it("and each is known by its place among all", () => {
    const numbers = [
      ...unprovedAccesses(kernel(params, [any, y(add(x(q), x(n(100)))), store("x", [n(-1)], cast("f64", c("i32", 1)))]), known).values(),
    ];
    assert.deepEqual(
      numbers.map(({ number }) => number),
      [1, 2, 4],
    );
  });

  it("and results are remembered by what was known", () => {
    const ir = kernel(params, [when(cmp("lt", n(0), i), [y(x(add(i, n(1))))])]);
    const inside = unprovedAccesses(ir, { ...known, text: "50" });
    assert.equal(inside.size, 0);
    assert.equal(unprovedAccesses(ir, { ...known, text: "50" }), inside);
    const longer: LaunchFacts = { ...known, range: (atom) => (atom === "index:0" ? [0, 99] : undefined) };
    assert.equal(unprovedAccesses(ir, { ...longer, text: "100" }).size, 2);
    assert.equal(unprovedAccesses({ ...ir }, { ...longer, text: "50" }).size, 2);
  });
});
