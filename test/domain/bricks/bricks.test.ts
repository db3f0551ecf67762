import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Bricks } from "../../../src/domain/bricks/partition.js";
import { activityOf } from "../../../src/domain/grid/activity.js";
import { bricks } from "../../../src/domain/index.js";
import { lowerBricks } from "../../../src/domain/bricks/lowering.js";
import { optimise } from "../../../src/ir/passes/optimise.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import { f64 } from "../../../src/kernel/declare/params.js";
import { likeDense, KINDS, storesCells } from "../kinds.js";
import { jsSet } from "../sets.js";

await likeDense("bricks, row by row,", KINDS.bricks);
storesCells("bricks, row by row,", KINDS.bricks);

describe("bricks", () => {
  it("are those with an active cell, and know if all their cells are", () => {
    const mask = new Uint8Array(10 * 6);
    mask[0] = mask[3 * 10 + 9] = 1;
    const bricks = new Bricks([10, 6], activityOf([10, 6], mask), [4, 4]);
    assert.deepEqual(bricks.extents, [3, 2]);
    assert.deepEqual([...bricks.activity.bytes(0, 2)], [1, 0, 1, 0, 0, 0]);
    assert.equal(bricks.full, false);
    assert.equal(new Bricks([8, 8, 4], activityOf([8, 8, 4], undefined), [4, 4, 4]).full, true);
    assert.equal(new Bricks([9, 8, 4], activityOf([9, 8, 4], undefined), [4, 4, 4]).full, false);
  });
});

describe("kernels of brick grids", () => {
  it("find neighbours by bricks, and guard inactive cells where there are some", () => {
    const grid = bricks(jsSet(1), [8, 8, 8], undefined);
    const [p, u] = [grid.field("p", f64), grid.field("u", f64, { cardinality: 2 })];
    const step = grid.container("step", { p, u }, ({ p, u }, c) => {
      u[c][1] = p.at(c, 1, 0, -1) + c.z;
    });
    const plan = { fields: new Map(step.uses.map(({ param, field }) => [param, field])) };
    const full = lowerBricks(step.ir, plan, { logs: [2, 2, 2], full: true });
    assert.deepEqual([...full.roles.keys()], ["bricks", "origins"]);
    assert.deepEqual(printKernel(optimise(full.ir)).trimEnd().split("\n"), [
      "kernel step (range i, j)",
      "  view p: f64[][]",
      "  view u: f64[][][]",
      "  view bricks: i32[][]",
      "  view origins: i32[][]",
      "  let inner_x: i32 = j & 3",
      "  let step_x1: i32 = inner_x + 1 >> 2",
      "  let inner_z: i32 = j >> 4 & 3",
      "  let step_zm1: i32 = inner_z - 1 >> 2",
      "  let brick_x1_zm1: i32 = bricks[i][step_x1 + 13 + step_zm1 * 9]",
      "  let cell_x1_zm1: i32 = j - 15 - (step_x1 << 2) - (step_zm1 << 6)",
      "  u[1][i][j] = p[brick_x1_zm1][cell_x1_zm1] + f64(origins[i][2] + inner_z)",
    ]);
    const holed = lowerBricks(step.ir, plan, { logs: [2, 2, 2], full: false });
    assert.deepEqual([...holed.roles.keys()], ["bricks", "origins", "active"]);
    assert.match(printKernel(optimise(holed.ir)), /if .*active/);
    grid.free();
  });
});

describe("brick grids that cannot be", () => {
  it("are refused", () => {
    assert.throws(() => bricks(jsSet(1), [4, 4, 4], () => false), /none of them active/);
    assert.throws(() => bricks(jsSet(3), [16, 16, 8], undefined), /8 planes for 3 members/);
    assert.throws(() => bricks(jsSet(1), [8, 8, 8], undefined, { brick: [4, 4, 3] }), /powers of two/);
    assert.throws(() => bricks(jsSet(1), [8, 8, 8], undefined, { brick: [4, 4] }), /one for each axis/);
    const grid = bricks(jsSet(1), [16, 16, 16], undefined);
    const [p, q] = [grid.field("p", f64), grid.field("q", f64)];
    assert.throws(
      () =>
        grid.container("wide", { p, q }, ({ p, q }, c) => {
          q[c] = p.at(c, 5, 0, 0);
        }),
      /container "wide", .*bricks\.test\.ts:\d+:\d+: reads the field "p" at offset \[5,0,0\], and a brick has 4 cells along x \(use larger bricks/,
    );
    assert.throws(
      () => grid.require([[0, -6, 0]]),
      /a stencil reads at offset \[0,-6,0\], and a brick has 4 cells along y; use larger bricks/,
    );
    grid.container("near", { p, q }, ({ p, q }, c) => {
      q[c] = p.at(c, 4, 0, 0);
    });
    assert.deepEqual(grid.reach, [4, 0, 0], "what was refused has left nothing");
  });
});
