import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addAffine as sum,
  affineOf,
  affineConstant,
  definitionsOf,
  equal,
  rangeOf,
  scaleAffine,
  substitute,
} from "../../../src/ir/analysis/affine.js";
import { add, assign, bin, c, cast, define, extent, i, j, load, local, loop, mul, n, scalar, sub, un } from "../build.js";

const at = (name: string) => local(name, "i32");

test("sums and constant multiples of indices, parameters and extents are linear", () => {
  const expr = sub(add(mul(n(5), i), mul(scalar("n", "i32"), n(2))), add(extent("x", 1), bin("shl", j, n(3))));
  assert.deepEqual(affineOf(expr), { constant: 0, terms: { "index:0": 5, "param:n": 2, "extent:x:1": -1, "index:1": -8 } });
  assert.deepEqual(affineOf(un("neg", sub(i, n(3)))), { constant: 3, terms: { "index:0": -1 } });
});

test("terms that cancel are gone", () => {
  assert.deepEqual(affineOf(sub(add(i, n(4)), i)), affineConstant(4));
  assert.deepEqual(affineOf(mul(i, n(0))), affineConstant(0));
});

test("products of unknowns, loads, divisions and other types are not linear", () => {
  for (const expr of [
    mul(i, j),
    mul(i, scalar("n", "i32")),
    load("x", [i], "i32"),
    bin("div", i, n(2)),
    cast("i32", cast("f64", i)),
    c("u32", 1),
  ])
    assert.equal(affineOf(expr), undefined);
});

test("a local is seen through if it keeps its first value, and a loop variable is an atom", () => {
  const body = [
    define("base", add(i, n(1))),
    define("moving", n(0)),
    assign("moving", n(1)),
    loop("q", n(0), n(4), [define("here", add(at("base"), mul(at("q"), n(2))))]),
  ];
  const definitions = definitionsOf(body);
  assert.deepEqual(affineOf(at("here"), definitions), { constant: 1, terms: { "index:0": 1, "local:q": 2 } });
  assert.equal(affineOf(at("moving"), definitions), undefined);
  assert.equal(affineOf(at("here")), undefined);
});

test("forms add, scale, compare and take other forms for their atoms", () => {
  const form = affineOf(add(mul(i, n(2)), n(1)))!;
  assert.ok(equal(sum(form, form), scaleAffine(form, 2)));
  assert.ok(!equal(form, scaleAffine(form, 2)));
  assert.deepEqual(substitute(form, "index:0", affineOf(sub(j, n(1)))!), { constant: -1, terms: { "index:1": 2 } });
  assert.deepEqual(substitute(form, "index:1", affineConstant(9)), form);
});

test("the range of a form follows the signs of its coefficients", () => {
  const form = affineOf(add(sub(mul(i, n(2)), mul(j, n(3))), n(1)))!;
  assert.deepEqual(
    rangeOf(form, (name) => (name === "index:0" ? [0, 4] : [1, 2])),
    [-5, 6],
  );
  assert.equal(
    rangeOf(form, (name) => (name === "index:0" ? [0, 4] : undefined)),
    undefined,
  );
});
