import assert from "node:assert/strict";
import { it } from "node:test";
import { runsAlong } from "../../../src/ir/analysis/runs-along.js";
import type { Stmt } from "../../../src/ir/types.js";
import { add, assign, define, element, f, i, load, local, loop, mul, n, setElement, sub, when, cmp } from "../build.js";

const [k, m] = ["k", "m"].map((name) => local(name, "i32"));

/** Whether a loop over k of these statements stores along `w` (and `v`), so that turns can run side by side. */
const along = (...body: Stmt[]): boolean => stepping(1, body);
const stepping = (step: number, body: Stmt[]): boolean =>
  runsAlong(loop("k", n(0), n(8), body, step) as Extract<Stmt, { kind: "for" }>, new Set(["w", "v"]));

it("loops run along arrays that they fill one element further in each turn", () => {
  assert.ok(along(setElement("w", k, f(1))));
  assert.ok(along(setElement("w", add(k, m), element("v", sub(k, m)))));
  assert.ok(along(define("t", element("v", add(m, k))), setElement("w", k, local("t"))));
  assert.ok(along(setElement("w", k, element("v", m))));
  assert.ok(along(setElement("w", k, load("x", [i]))));
  assert.ok(along(setElement("w", k, element("u", n(3)))));
});

it("loops do not where they step otherwise, or where turns depend on each other", () => {
  assert.ok(!stepping(2, [setElement("w", k, f(1))]));
  for (const body of [
    [setElement("w", n(3), f(1))],
    [setElement("w", m, f(1))],
    [setElement("w", mul(n(2), k), f(1))],
    [setElement("w", add(k, k), f(1))],
    [setElement("w", sub(m, k), f(1))],
    [setElement("w", k, element("v", add(k, k)))],
    [setElement("w", k, element("w", k))],
    [setElement("w", k, load("x", [k]))],
    [define("j", add(k, n(1))), setElement("w", local("j", "i32"), f(1))],
    [setElement("w", k, local("s")), assign("s", f(2))],
    [when(cmp("lt", k, n(3)), [setElement("w", k, f(1))])],
    [setElement("u", k, f(1))],
    [define("t", f(1))],
  ])
    assert.ok(!along(...body), JSON.stringify(body));
});
