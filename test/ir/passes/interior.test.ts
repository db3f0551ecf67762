import assert from "node:assert/strict";
import { test } from "node:test";
import { interiorOf } from "../../../src/ir/passes/interior.js";
import type { Expr } from "../../../src/ir/types.js";
import { add, cmp, f, j, load, n, select, store, sub } from "../build.js";

const isVariable = (e: Expr): boolean => e.op === "index" && e.axis === 1;
const near = (d: number): Expr => load("u", [d < 0 ? sub(j, n(-d)) : add(j, n(d))]);

test("away from the ends, neighbours that come round are the near ones", () => {
  const right = select(cmp("lt", j, n(62)), near(2), near(-62));
  const left = select(cmp("ge", j, n(1)), near(-1), near(63));
  const { begin, end, body } = interiorOf([store("v", [j], add(left, right))], isVariable)!;
  assert.deepEqual([begin, end], [1, 62]);
  assert.deepEqual("value" in body[0] && body[0].value, add(near(-1), near(2)));
});

test("there is no interior where choices are not about the variable, or load nothing", () => {
  const other = select(cmp("lt", load("u", [j]), f(62)), near(2), near(-62));
  const number = select(cmp("lt", j, n(62)), f(1), f(2));
  assert.equal(interiorOf([store("v", [j], add(other, number))], isVariable), undefined);
});
