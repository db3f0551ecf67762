import assert from "node:assert/strict";
import { test } from "node:test";
import { optimise } from "../../../src/ir/passes/optimise.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import { relax } from "../../../src/ir/passes/relax.js";
import { add, assign, cast, define, entry, f, i, kernel, load, local, loop, mul, n, store, sub, table, view } from "../build.js";

const q = local("q", "i32");

test("terms of zero are gone, and integers stay as they were", () => {
  const ir = kernel(
    [view("x", 2), view("y"), view("m", 1, "i32")],
    [
      define("u", f(0)),
      loop("q", n(0), n(3), [assign("u", add(local("u"), mul(cast("f64", entry("c", [q], "i32")), load("x", [q, i]))))]),
      store("y", [i], sub(f(0), local("u"))),
      store("m", [i], sub(n(0), load("m", [i], "i32"))),
    ],
    { tables: [table("c", [1, 0, -1], [3], "i32")] },
  );
  const body = (text: string) =>
    text
      .split("\n")
      .slice(4, -1)
      .map((line) => line.trim());
  assert.deepEqual(body(printKernel(optimise(ir))), [
    "let u: f64 = 0.0 + x[0][i]",
    "u = u + 0.0 * x[1][i]",
    "u = u - x[2][i]",
    "y[i] = 0.0 - u",
    "m[i] = 0 - m[i]",
  ]);
  assert.deepEqual(body(printKernel(relax(optimise(ir)))), ["let u: f64 = x[0][i]", "u = u - x[2][i]", "y[i] = -u", "m[i] = 0 - m[i]"]);
});
