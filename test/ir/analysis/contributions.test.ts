import assert from "node:assert/strict";
import { test } from "node:test";
import { contributionsIn, contributionsOf, launchRanges } from "../../../src/ir/analysis/contributions.js";
import { range, teams } from "../../../src/device/launch/policy.js";
import {
  add,
  cmp,
  extent,
  f,
  i,
  kernel,
  load,
  loop,
  loopWhile,
  local,
  n,
  scalar,
  scatter,
  target,
  teamFor,
  teamKernel,
  value,
  view,
  when,
} from "../build.js";

const x = load("x", [i]);
const once = scatter("h", [n(0)], f(1));
const params = [view("x"), view("row", 1, "i32"), value("m", "i32"), target("h"), target("g")];
const shapes = { x: { shape: [6] }, row: { shape: [5] }, h: { shape: [9] }, g: { shape: [9] } };
const known = launchRanges({ policy: range([2, 5]), views: shapes, scalars: { m: 7 } });

test("contributions are counted over constant loops, and along the longer branch", () => {
  const ir = kernel(params, [
    loop("k", n(0), n(20), [once], 10),
    loop("k2", n(5), n(0), [once, scatter("g", [n(0)], f(1))], -2),
    when(cmp("gt", x, f(0)), [once], [once, once]),
  ]);
  assert.equal(contributionsOf(ir, "h"), 7);
  assert.equal(contributionsOf(ir, "g"), 3);
});

test("a launch tells the bounds of loops that scalars, extents and indices give", () => {
  const ir = kernel(params, [
    loop("k", n(1), scalar("m", "i32"), [once]),
    loop("l", n(0), extent("x"), [once]),
    loop("q", i, n(6), [once]),
  ]);
  assert.equal(contributionsOf(ir, "h"), undefined);
  // 6 turns, 6 turns, and 4 at most, where i is 2.
  assert.equal(contributionsOf(ir, "h", known), 16);
  const triangle = kernel(params, [loop("k", n(0), n(4), [loop("l", n(0), add(local("k", "i32"), n(1)), [once])])]);
  assert.equal(contributionsOf(triangle, "h"), 16);
});

test("what data decide has no bound", () => {
  const rows = kernel(params, [loop("k", load("row", [i], "i32"), load("row", [add(i, n(1))], "i32"), [once])]);
  assert.equal(contributionsOf(rows, "h", known), undefined);
  assert.equal(contributionsOf(rows, "g", known), 0);
  const halving = kernel(params, [loopWhile(cmp("gt", x, f(0)), [once])]);
  assert.equal(contributionsOf(halving, "h", known), undefined);
  assert.equal(contributionsOf(halving, "g", known), 0);
});

test("too many to be recorded are as good as no bound", () => {
  const many = (turns: number) => kernel(params, [loop("k", n(0), n(turns), [once])]);
  assert.equal(contributionsOf(many(4096), "h"), 4096);
  assert.equal(contributionsOf(many(4097), "h"), undefined);
});

test("members of a team count each, with a constant number of contributions of their own", () => {
  const launch = launchRanges({ policy: teams(3), views: shapes, scalars: { m: 7 } });
  const ir = teamKernel(params, [once, teamFor("j", extent("x"), [once, loop("k", n(0), n(2), [once])])]);
  assert.equal(contributionsOf(ir, "h"), undefined);
  assert.equal(contributionsOf(ir, "h", launch), 19);
  const inner = [loop("k", n(0), scalar("m", "i32"), [once])];
  assert.equal(contributionsOf(teamKernel(params, [teamFor("j", n(4), inner)]), "h", launch), undefined);
  assert.equal(contributionsIn(inner, "h"), undefined);
  assert.equal(contributionsIn([once, once], "h"), 2);
});
