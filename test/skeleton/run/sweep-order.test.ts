import assert from "node:assert/strict";
import { test } from "node:test";
import { f64 } from "../../../src/index.js";
import { dense } from "../../../src/domain/index.js";
import { skeleton, type WalkOrder } from "../../../src/skeleton/index.js";
import { walksBack } from "../../../src/skeleton/run/sweep-order.js";
import { jsSet } from "../../domain/sets.js";

test("every other container walks back, or none", () => {
  const told = (order: WalkOrder) => [0, 1, 2, 3].map((stage) => walksBack(order, stage));
  assert.deepEqual(told("alternating"), [false, true, false, true]);
  assert.deepEqual(told("forward"), [false, false, false, false]);
});

test("other words are refused", () => {
  const grid = dense(jsSet(1), [4, 4, 4]);
  const x = grid.field("x", f64);
  const add = grid.container("add", { x }, ({ x }, c) => void (x[c] += 1));
  const walk = "back" as WalkOrder;
  assert.throws(() => skeleton(grid.set, "wrong", [add], { walk }), /skeleton "wrong": walk is "back"; use forward or alternating/);
});
