import assert from "node:assert/strict";
import test from "node:test";
import { TARGETS } from "../../../src/emit/standalone/index.js";
import { ATOMIC_CASES, requestOf } from "./cases.js";

test("languages without operations that give the old value are refused by name", () => {
  for (const target of ["metal", "openacc", "stdpar"] as const)
    assert.throws(
      () => TARGETS[target](requestOf(ATOMIC_CASES[0], "fast")),
      /^EmitError: kernel "commuting" cannot be written for (Metal|C\+\+): it has no atomic operation that gives the old value, as sums wants \(choose the target c,/,
    );
});

test("strict files are refused where the order of elements shows", () => {
  const request = requestOf(ATOMIC_CASES[1], "fast");
  for (const write of Object.values(TARGETS))
    assert.throws(
      () => write({ ...request, precision: "strict" }),
      /n is atomic, and what exchange gives depends on the order of elements \(use fast mode, or a scatter and a second kernel\)/,
    );
});
