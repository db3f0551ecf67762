import assert from "node:assert/strict";
import { test } from "node:test";
import { f64 } from "../../../src/index.js";
import { dense } from "../../../src/domain/index.js";
import { skeleton, type SweepOrder } from "../../../src/skeleton/index.js";
import { sweepsBackward } from "../../../src/skeleton/run/sweep-order.js";
import { jsSet } from "../../domain/sets.js";

test("every other container sweeps backward, or none", () => {
  const backward = (order: SweepOrder) => [0, 1, 2, 3].map((stage) => sweepsBackward(order, stage));
  assert.deepEqual(backward("alternating"), [false, true, false, true]);
  assert.deepEqual(backward("forward"), [false, false, false, false]);
});

test("other words are refused", () => {
  const grid = dense(jsSet(1), [4, 4, 4]);
  const x = grid.field("x", f64);
  const add = grid.container("add", { x }, ({ x }, c) => void (x[c] += 1));
  const sweepOrder = "back" as SweepOrder;
  assert.throws(
    () => skeleton(grid.set, "wrong", [add], { sweepOrder }),
    /skeleton "wrong": sweepOrder is "back"; use forward or alternating/,
  );
});
