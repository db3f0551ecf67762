import assert from "node:assert/strict";
import { test } from "node:test";
import { unprovedAccesses } from "../../../src/ir/analysis/proofs.js";
import { checkIndices } from "../../../src/ir/passes/check-indices.js";
import { define, f, kernel, load, local, i, scatter, store, target, view } from "../build.js";

test("each check says whether an element is read, written or scattered to, and by which index", () => {
  const nothing = { range: () => undefined, shape: () => [8], trusted: () => false };
  const at = local("q", "i32");
  const ir = kernel(
    [view("at", 1, "i32"), view("x"), view("y"), target("h")],
    [define("q", load("at", [i], "i32")), store("y", [at], load("x", [at])), scatter("h", [at], f(1))],
  );
  const { checks } = checkIndices(ir, unprovedAccesses(ir, nothing), new Set());
  assert.deepEqual(
    checks!.sites.map(({ kind, array, text, axis }) => [kind, array, text, axis]),
    [
      ["read", "at", "at[i]", 0],
      ["read", "x", "x[q]", 0],
      ["write", "y", "y[q]", 0],
      ["scatter", "h", "h[q]", 0],
    ],
  );
  assert.deepEqual([checks!.unproved, checks!.accesses], [4, 4]);
});
