import assert from "node:assert/strict";
import { test } from "node:test";
import { OCC_LEVELS } from "isoform/skeleton";
import { jsSet, onEachBackend } from "../../domain/sets.js";
import { solved } from "./solved.js";

await onEachBackend("conjugate gradients have the same bits", ({ backend, all, of }) => {
  const settings = { size: 16, preconditioner: "multigrid", levels: 1 } as const;
  const expected = solved(jsSet(1), { size: 16, occ: "none" }, { iterations: 6 }, { fuse: false });
  const withMultigrid = solved(jsSet(1), { ...settings, occ: "none" }, { iterations: 4 }, { fuse: false });
  for (const set of backend === "js" ? all : [of(3)])
    test(set.name, async () => {
      const options = [
        ...OCC_LEVELS.map((occ) => [{ size: 16, occ }, {}] as const),
        [{ size: 16, occ: "two-way" }, { fuse: false }] as const,
        [{ size: 16, grid: "sparse" }, { unroll: 3 }] as const,
      ];
      for (const [chosen, planning] of options)
        assert.deepEqual((await solved(set, chosen, { iterations: 6 }, planning)).values, (await expected).values, JSON.stringify(chosen));
      for (const grid of backend === "js" ? (["dense", "sparse"] as const) : (["dense"] as const))
        assert.deepEqual(
          (await solved(set, { ...settings, grid }, { iterations: 4 })).values,
          (await withMultigrid).values,
          `multigrid, ${grid}`,
        );
    });
});
