import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gatherReductions } from "../../../src/ir/passes/gather.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import type { Param, Stmt } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import { bin, cmp, extent, f, i, kernel, load, local, loop, n, reduce, store, total, view, when } from "../build.js";

const x = load("x", [i]);
const product: Param = {
  kind: "reduce",
  name: "p",
  type: "f64",
  op: "custom",
  identity: 1,
  combine: { a: "a", b: "b", body: bin("mul", local("a"), local("b")) },
};

/** The statements after the pass, one a line. */
function gathered(...body: Stmt[]): string[] {
  const after = gatherReductions(kernel([view("x"), total("s"), product], body));
  verify(after);
  return printKernel(after)
    .split("\n")
    .filter((line) => line && !/^kernel|^ {2}(view|reduce \w+:)/.test(line))
    .map((line) => line.slice(2));
}

describe("each element folds one value, at its end", () => {
  it("that which it has where it folds", () => {
    assert.deepEqual(gathered(reduce("s", x), store("x", [i], f(0))), [
      "let p_value: f64 = 1.0",
      "let s_value: f64 = x[i]",
      "x[i] = 0.0",
      "reduce s <- s_value",
      "reduce p <- p_value",
    ]);
  });

  it("or all that it folds on its way, by the reduction's own fold", () => {
    const turns = loop("k", n(0), extent("x"), [reduce("p", load("x", [local("k", "i32")]))]);
    assert.deepEqual(gathered(when(cmp("lt", x, f(0)), [reduce("s", x)]), turns, reduce("s", f(2))), [
      "let p_value: f64 = 1.0",
      "let s_value: f64 = 0.0",
      "if x[i] < 0.0",
      "  s_value = s_value + x[i]",
      "for k = 0 until x.length",
      "  p_value = p_value * x[k]",
      "s_value = s_value + 2.0",
      "reduce s <- s_value",
      "reduce p <- p_value",
    ]);
  });
});
