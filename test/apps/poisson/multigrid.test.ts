import assert from "node:assert/strict";
import { test } from "node:test";
import { f64 } from "isoform";
import { axpy, makeGrid, norm2 } from "isoform/grid";
import { skeleton } from "isoform/skeleton";
import { laplace, type Real } from "../../../apps/poisson/kernels.js";
import { levelsOf, vCycle } from "../../../apps/poisson/multigrid.js";
import { jsSet, noise } from "../../domain/sets.js";

const SIZE = 24;
const CYCLES = 10;
/** A ball with a hole, and a piece cut off. */
const inside = (x: number, y: number, z: number): boolean => {
  const distance = Math.hypot(x - 11.5, y - 11.5, z - 11.5);
  return distance > 3 && distance < 11.5 && x + y > 8;
};

test("V-cycles solve problems on masked domains, with the same bits on dense and on sparse grids", async () => {
  const solutions = [];
  for (const [set, kind] of [
    [jsSet(1), "dense"],
    [jsSet(1), "sparse"],
    [jsSet(3), "sparse"],
  ] as const) {
    const grid = makeGrid(set, [SIZE, SIZE, SIZE], { kind, active: inside, levels: 2 });
    const [f, e, t, s, u] = ["f", "e", "t", "s", "u"].map((name): Real => grid.field(name, f64));
    const length = grid.scalar("length", f64);
    const levels = levelsOf(grid, f, e, t, 2);
    const cycle = [...vCycle(levels, { count: 2, weight: 6 / 7 }), axpy(1, e, u), laplace(grid, e, s), axpy(-1, s, f)];
    f.fill((x, y, z) => noise(x, y, z));
    u.fill(0);
    const norm = norm2(f, length);
    const size = async (): Promise<number> => {
      for (const container of norm) await grid.run(container, { precision: "strict" });
      return length.get();
    };
    const before = await size();
    await skeleton(set, "cycles", cycle, { precision: "strict" }).run(CYCLES);
    const after = await size();
    assert.ok(after < 1e-3 * before, `${kind}: ${before} to ${after}`);
    solutions.push([...(await u.download())]);
    for (const level of levels) level.grid.free();
  }
  assert.deepEqual(solutions[1], solutions[0]);
  assert.deepEqual(solutions[2], solutions[0]);
});
