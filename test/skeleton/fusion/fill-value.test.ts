import assert from "node:assert/strict";
import { test } from "node:test";
import { f64 } from "../../../src/index.js";
import { dense, type Container } from "../../../src/domain/index.js";
import { keepsFillValue } from "../../../src/skeleton/fusion/fill-value.js";
import { jsSet } from "../../domain/sets.js";

const grid = dense(jsSet(1), [4, 4]);
const [zero, result] = [grid.field("zero", f64), grid.field("result", f64)];
const one = grid.field("one", f64, { fillValue: 1 });
const two = grid.field("two", f64, { fillValue: 2 });
const s = grid.scalar("s", f64);
const given = { zero, one, s, factor: 3 };

const keeps = (container: Container) => keepsFillValue(container, container.uses.find((use) => use.written)!.field);

test("sums and products of fill values", () => {
  assert.ok(keeps(grid.container("copy", { ...given, result }, ({ zero, result }, c) => void (result[c] = zero[c]))));
  assert.ok(keeps(grid.container("double", { ...given, two }, ({ one, two }, c) => void (two[c] = 2 * one[c]))));
  assert.ok(!keeps(grid.container("same", { ...given, two }, ({ one, two }, c) => void (two[c] = one[c]))));
});

test("a zero takes any finite factor, and its sign is lost in a sum with +0", () => {
  assert.ok(keeps(grid.container("update", { ...given, result }, ({ zero, s, result }, c) => void (result[c] = zero[c] + s * zero[c]))));
  assert.ok(keeps(grid.container("take", { ...given, result }, ({ zero, s, result }, c) => void (result[c] = zero[c] - s * zero[c]))));
  assert.ok(keeps(grid.container("mix", { ...given, two }, ({ one, zero, s, two }, c) => void (two[c] = 2 * one[c] + s * zero[c]))));
});

test("a product alone may be -0, and what depends on a scalar is not known", () => {
  assert.ok(!keeps(grid.container("scale", { ...given, result }, ({ zero, s, result }, c) => void (result[c] = s * zero[c]))));
  assert.ok(!keeps(grid.container("shift", { ...given, result }, ({ zero, s, result }, c) => void (result[c] = zero[c] + s))));
  assert.ok(!keeps(grid.container("rate", { ...given, two }, ({ one, factor, two }, c) => void (two[c] = factor * one[c] - 1))));
});

test("each component is known for itself, and a choice where both sides are alike", () => {
  const pair = grid.field("pair", f64, { cardinality: 2 });
  const both = { ...given, pair };
  assert.ok(
    keeps(
      grid.container("both", both, ({ zero, s, pair }, c) => {
        for (let k = 0; k < 2; k++) pair[c][k] = zero[c] + (s === 0 ? 0 : 1 / s) * pair[c][k];
      }),
    ),
  );
  assert.ok(!keeps(grid.container("one of two", both, ({ zero, s, pair }, c) => void (pair[c][0] = s > 0 ? zero[c] : s))));
  assert.ok(
    !keeps(
      grid.container("second", both, ({ one, pair }, c) => {
        pair[c][0] = pair[c][1];
        pair[c][1] = one[c];
      }),
    ),
  );
});

test("branches, functions and coordinates are not followed", () => {
  const branch = grid.container("branch", { ...given, result }, ({ zero, one, result }, c) => {
    if (one[c] > 0) result[c] = zero[c];
  });
  assert.ok(!keeps(branch));
  assert.ok(!keeps(grid.container("root", { ...given, result }, ({ zero, result }, c) => void (result[c] = Math.sqrt(zero[c])))));
  assert.ok(!keeps(grid.container("place", { ...given, result }, ({ zero, result }, c) => void (result[c] = c.x * zero[c]))));
});
