import assert from "node:assert/strict";
import { it } from "node:test";
import { OCC_LEVELS, type SkeletonOptions } from "isoform/skeleton";
import { Elasticity, type Settings } from "../../../apps/elasticity/elasticity.js";
import { GRID_KINDS } from "isoform/grid";
import { jsSet, jsSets, onEachBackend } from "../../domain/sets.js";
import { RAGGED, resultOf } from "./solids.js";

async function iterated(set: (typeof jsSets)[number], settings: Partial<Settings>, plan: SkeletonOptions = {}): Promise<number[]> {
  const elasticity = await Elasticity.create(set, RAGGED, { precision: "strict", preconditioner: "jacobi", ...settings }, plan);
  await elasticity.skeleton.run(7);
  const result = await resultOf(elasticity);
  elasticity.free();
  return result;
}

/** By the number of the set. */
const PLANS: readonly SkeletonOptions[] = [{ fuse: false }, { unroll: 2 }, {}];

let reference: Promise<number[]> | undefined;

await onEachBackend("strict elasticity", ({ backend, all, of }) => {
  for (const grid of GRID_KINDS)
    it(`a ${grid} grid gives one result on 1 to 7 members, at every level of OCC, fused or not, unrolled or not`, async () => {
      const expected = await (reference ??= iterated(jsSet(1), {}));
      // Bricks of four planes are too thick for 15 planes on more members.
      const sets = grid === "bricks" ? [1, 2, 3].map(of) : all;
      for (const [n, set] of sets.entries())
        for (const occ of n === 2 && grid === "dense" && backend === "js" ? OCC_LEVELS : [OCC_LEVELS[n % OCC_LEVELS.length]]) {
          const found = await iterated(set, { grid, occ, layout: n % 2 ? "aos" : "soa" }, PLANS[n]);
          const wrong = found.findIndex((value, at) => !Object.is(value, expected[at]));
          assert.equal(wrong, -1, `${set.name}, occ ${occ}: value ${wrong} is ${found[wrong]}, not ${expected[wrong]}`);
        }
    });
});
