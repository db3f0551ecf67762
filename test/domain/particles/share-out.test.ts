import assert from "node:assert/strict";
import test from "node:test";
import { f32, f64 } from "../../../src/index.js";
import { dense } from "../../../src/domain/index.js";
import { particles } from "../../../src/domain/particles/index.js";
import { cellFinder, roundingOf, shareOut } from "../../../src/domain/particles/share-out.js";
import { jsSet } from "../sets.js";

const set = jsSet(3);
const never = (n: number): never => assert.fail(`particle ${n} is in no cell`);

test("shares particles out in the order in which they are given", () => {
  const grid = dense(set, [4, 6]);
  const x = [1, 5.5, 0, 0, 3.9, 1.9, 2, 2, 0, 5];
  assert.deepEqual(
    shareOut(grid, x, roundingOf("f64"), never).map((list) => [...list]),
    [[1, 2], [3], [0, 4]],
  );
});

test("knows no cell beyond the ends, in inactive cells, and for what is no number", () => {
  const grid = dense(set, [4, 6], { active: (x, y) => x !== 2 || y !== 3 });
  const cellOf = cellFinder(grid, roundingOf("f64"));
  assert.equal(cellOf([9, 9, 3, 5.99], 2), 23);
  for (const at of [
    [-1e-9, 0],
    [4, 0],
    [0, 6],
    [NaN, 0],
    [0, Infinity],
    [2.5, 3.5],
  ])
    assert.equal(cellOf(at, 0), -1, String(at));
});

for (const [positions, near] of [
  [f64, -1e-20],
  [f32, -1e-9],
] as const)
  test(`a ${positions.type} that rounds onto the end of a ring is in its first cell, as for kernels`, async () => {
    const grid = dense(set, [4, 6], { periodic: true });
    const dust = particles(grid, "dust", {}, { positions });
    dust.load({ x: [near, near, 3, 6 + 5.5, -0.5, 2] });
    assert.deepEqual(await dust.held(), [1, 1, 1]);
    await dust.check("load");
    grid.free();
  });
