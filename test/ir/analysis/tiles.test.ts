import assert from "node:assert/strict";
import test from "node:test";
import { tilesRemark, tilesOf } from "../../../src/ir/analysis/tiles.js";
import { range, teams } from "../../../src/device/launch/policy.js";
import { kernel, total, view } from "../build.js";

const plain = kernel([view("x", 2)], []);
const folding = kernel([view("x", 2), total("s")], []);

test("tiles cover a range, and are no longer than it", () => {
  assert.deepEqual(tilesOf(plain, range(10, [3, 9], { tile: [4, 100] }), []), { tile: [4, 6], counts: [3, 1], total: 3 });
  assert.equal(tilesOf(plain, range(0, 9, { tile: [4, 3] }), [])?.total, 0);
});

test("there are none where they were not asked for, or the order is set", () => {
  const policy = range(10, 10, { tile: [4, 4] });
  assert.equal(tilesOf(plain, range(10, 10), []), undefined);
  assert.equal(tilesOf(plain, teams(10), []), undefined);
  assert.equal(tilesOf(folding, policy, []), undefined);
  assert.equal(tilesOf(plain, policy, ["atomic", "sorted"]), undefined);
  assert.equal(tilesOf(plain, policy, ["atomic"])?.total, 9);
});

test("what became of them is remarked", () => {
  const policy = range(10, 10, { tile: [4, 5] });
  assert.deepEqual(tilesRemark(plain, policy, []), ["tiles: 6 of 4 x 5 elements"]);
  assert.match(tilesRemark(folding, policy, [])[0], /^tiles: none, as reductions/);
  assert.deepEqual(tilesRemark(plain, range(10, 10), []), []);
});
