import assert from "node:assert/strict";
import { it } from "node:test";
import { range } from "../../../src/device/launch/policy.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import { wrapByChoice } from "../../../src/ir/passes/wrap-by-choice.js";
import type { Expr } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import { add, bin, extent, i, j, kernel, load, n, store, sub, view } from "../build.js";

/** Statements after the pass, for a view of 8 x 9 elements and the inner part of it or all. */
function chosen(value: Expr, policy = range(8, 9)): string[] {
  const after = wrapByChoice(kernel([view("x", 2), view("y", 2)], [store("y", [i, j], value)], { rank: 2 }), policy, (_, axis) => 8 + axis);
  verify(after);
  return printKernel(after)
    .split("\n")
    .filter((line) => line && !/^kernel|^ {2}view/.test(line))
    .map((line) => line.slice(2));
}

const columns = extent("x", 1);
const around = (place: Expr, size: Expr): Expr => bin("rem", add(place, size), size);

it("reads along the last axis are chosen, next to its ends", () => {
  assert.deepEqual(chosen(load("x", [i, around(sub(j, n(1)), columns)])), ["y[i][j] = j >= 1 ? x[i][j - 1] : x[i][j + 8]"]);
  assert.deepEqual(chosen(load("x", [i, bin("rem", add(j, n(2)), columns)])), ["y[i][j] = j < 7 ? x[i][j + 2] : x[i][j - 7]"]);
  assert.deepEqual(chosen(load("x", [i, around(j, columns)])), ["y[i][j] = x[i][j]"]);
});

it("places along other axes are chosen once", () => {
  const read = load("x", [around(add(i, n(1)), extent("x")), j]);
  assert.deepEqual(chosen(add(read, read)), ["let wrapped: i32 = i < 7 ? i + 1 : i - 7", "y[i][j] = x[wrapped][j] + x[wrapped][j]"]);
});

it("nothing is chosen away from the ends, and remainders stay where more than two turns, negative or unknown numbers are possible", () => {
  assert.deepEqual(chosen(load("x", [i, around(add(j, n(1)), columns)]), range(8, [0, 8])), ["y[i][j] = x[i][j + 1]"]);
  for (const place of [
    bin("rem", bin("mul", j, n(3)), columns),
    bin("rem", sub(j, n(1)), columns),
    bin("rem", add(i, j), n(9)),
    bin("rem", j, n(3)),
  ])
    assert.match(chosen(load("x", [i, place]))[0], /%/);
});
