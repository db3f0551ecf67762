import assert from "node:assert/strict";
import { test } from "node:test";
import { divideByReciprocals } from "../../../src/ir/passes/reciprocals.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import { verify } from "../../../src/ir/verify.js";
import type { Expr, Stmt } from "../../../src/ir/types.js";
import { add, array, assign, bin, cast, cmp, define, div, element, f, i, kernel, load, local, loop, mul, n } from "../build.js";
import { scalar, select, setElement, store, un, value, view } from "../build.js";

const params = [view("x"), view("y"), view("m", 1, "i32"), value("d"), value("k", "i32")];
const x = load("x", [i]);

/** The statements after the pass, one a line. */
function divided(...body: Stmt[]): string[] {
  const after = divideByReciprocals(kernel(params, body));
  verify(after);
  return printKernel(after)
    .split("\n")
    .filter((line) => line && !/^kernel|^ {2}(view|scalar)/.test(line))
    .map((line) => line.slice(2));
}

test("quotients by what is the same for all elements share a reciprocal", () => {
  const square = mul(scalar("d"), scalar("d"));
  assert.deepEqual(
    divided(define("a", div(x, square)), loop("q", n(0), n(3), [assign("a", div(local("a"), square))]), store("y", [i], div(x, f(3)))),
    [
      "let reciprocal: f64 = 1.0 / (d * d)",
      "let a: f64 = x[i] * reciprocal",
      "for q = 0 until 3",
      "  a = a * reciprocal",
      "let reciprocal_1: f64 = 1.0 / 3.0",
      "y[i] = x[i] * reciprocal_1",
    ],
  );
});

test("locals that are the same for all elements count once they have their value", () => {
  const lines = divided(define("w", add(scalar("d"), f(1))), define("v", x), store("y", [i], div(local("v"), local("w"))));
  assert.deepEqual(lines.slice(2), ["let reciprocal: f64 = 1.0 / w", "y[i] = v * reciprocal"]);
});

test("other quotients stay", () => {
  const k = scalar("k", "i32");
  for (const quotient of [div(f(1), scalar("d")), div(x, load("y", [i])), div(scalar("d"), x)])
    assert.equal(divided(store("y", [i], quotient)).length, 1);
  assert.equal(divided(store("m", [i], div(load("m", [i], "i32"), k)))[0], "m[i] = m[i] / k");
  const changed = divided(define("w", f(2)), assign("w", x), store("y", [i], div(x, local("w"))));
  assert.equal(changed.at(-1), "y[i] = x[i] / w");
});

test("quotients that decide something stay, also by way of locals; a rounded one does not", () => {
  const q = div(x, scalar("d"));
  const whole = (e: Expr): Stmt => store("m", [i], cast("i32", e));
  const stays = (...body: Stmt[]): void => assert.ok(divided(...body).some((line) => line.includes("x[i] / d")));
  stays(whole(q));
  stays(store("y", [i], un("floor", mul(q, f(2)))));
  stays(store("y", [i], select(cmp("lt", f(1), q), f(1), f(0))));
  stays(store("y", [i], bin("rem", q, f(1))));
  stays(define("a", q), define("b", add(local("a"), f(1))), whole(local("b")));
  stays(define("a", f(0)), assign("a", q), whole(local("a")));
  stays(array("c", 2), setElement("c", n(0), q), whole(element("c", n(1))));
  assert.match(divided(whole(un("round", q))).at(-1)!, /x\[i\] \* reciprocal/);
});
