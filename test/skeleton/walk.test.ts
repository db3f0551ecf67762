import assert from "node:assert/strict";
import { test } from "node:test";
import { f64 } from "../../src/index.js";
import { dense } from "../../src/domain/index.js";
import { skeleton, swap, type WalkOrder } from "../../src/skeleton/index.js";
import { stagesOf } from "../../src/skeleton/plan.js";
import { walksOf } from "../../src/skeleton/walk.js";
import { jsSets } from "../domain/sets.js";

const grid = dense(jsSets[0], [4, 4, 4]);
const [u, v, x] = ["u", "v", "x"].map((name) => grid.field(name, f64));
const smooth = grid.container("smooth", { u, v }, ({ u, v }, c) => void (v[c] = u[c] + u.at(c, 1, 0, 0)));
const add = grid.container("add", { v, x }, ({ v, x }, c) => void (x[c] += v[c]));

test("every other container walks back, and keeps in the cache what the next one reads", () => {
  const walkOf = walksOf(stagesOf([smooth, add], 2, false, []), "alternating");
  const told = [0, 1, 2, 3].map((stage) => {
    const { backward, passing } = walkOf(stage);
    return [backward, [...passing!].map(({ name }) => name)];
  });
  // What `add` reads of v is written anew before it is read again, and x is not touched until then.
  const [there, back] = [
    [false, []],
    [true, ["x"]],
  ];
  assert.deepEqual(told, [there, back, there, back]);
});

test("the container after the last one is the first, with the fields that it has then", () => {
  const passing = (steps: Parameters<typeof stagesOf>[0]) =>
    [...walksOf(stagesOf(steps, 1, false, []), "alternating")(0).passing!].map(({ name }) => name);
  const copy = grid.container("copy", { v, x }, ({ v, x }, c) => void (x[c] = v[c]));
  const keep = grid.container("keep", { v }, ({ v }, c) => void (v[c] = 2 * v[c]));
  assert.deepEqual(passing([copy]), []);
  assert.deepEqual(passing([keep, swap(u, v)]), ["v"]);
  assert.deepEqual(passing([copy, swap(v, x)]), []);
});

test("forward, nothing is said of caches; other words are refused", () => {
  assert.deepEqual(walksOf(stagesOf([smooth, add], 1, false, []), "forward")(1), {});
  const walk = "back" as WalkOrder;
  assert.throws(() => skeleton(grid.set, "wrong", [add], { walk }), /skeleton "wrong": walk is "back"; use forward or alternating/);
});
