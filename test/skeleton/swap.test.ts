import assert from "node:assert/strict";
import { test } from "node:test";
import { f32, f64, sum } from "../../src/index.js";
import { dense } from "../../src/domain/index.js";
import { skeleton, swap } from "../../src/skeleton/index.js";
import { jsSet, jsSets } from "../domain/sets.js";

for (const set of jsSets)
  test(`swapped scalars take each other's place in every plan, on ${set.name}`, async () => {
    for (const unroll of [1, 2, 3]) {
      const grid = dense(set, [4, 4, 8]);
      const u = grid.field("u", f64);
      const [now, before] = [grid.scalar("now", f64), grid.scalar("before", f64)];
      u.fill(2 / 128);
      now.set(5);
      const double = grid.container("double", { u, now, before: sum(before) }, ({ u, now, before }, c) => before.add(now * u[c]!));
      const doubling = skeleton(set, "doubling", [double, swap(now, before)], { unroll });
      await doubling.run(7);
      assert.deepEqual([await now.get(), await before.get()], [5 * 2 ** 7, 5 * 2 ** 6], `unrolled ${unroll}`);
      doubling.free();
      grid.free();
    }
  });

test("a temporary field gives up the memory that it has after swaps", async () => {
  const grid = dense(jsSet(2), [4, 4, 8]);
  const [u, t] = [grid.field("u", f64), grid.field("t", f64)];
  const double = grid.container("double", { u, t }, ({ u, t }, c) => void (t[c] = 2 * u[c]));
  const raise = grid.container("raise", { u }, ({ u }, c) => void (u[c] = u[c] + 1));
  u.fill(3);
  const doubling = skeleton(grid.set, "doubling", [double, swap(u, t), raise], { temporary: [t] });
  await doubling.run(3);
  assert.deepEqual(new Set(await u.download()), new Set([31]));
  doubling.free();
  grid.free();
});

test("swaps take two fields or two scalars of one kind", () => {
  const grid = dense(jsSet(1), [4, 4]);
  const [u, a] = [grid.field("u", f64), grid.scalar("a", f64)];
  assert.throws(() => swap(u, grid.field("v", f32) as never), /swap of fields "u" and "v" .*one grid, type/);
  assert.throws(() => swap(a, grid.scalar("b", f32) as never), /swap of scalars "a" and "b" .*one type/);
  assert.throws(() => swap(a, a), /swap of scalars "a" and "a"/);
  assert.throws(() => swap(u, a as never), /swap of fields "u" and "a"/);
  assert.throws(() => a.swap(grid.scalar("b", f32)), /"a" and "b" cannot be swapped/);
});
