import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connectUnits } from "../../../src/domain/sparse/connectivity.js";
import { lowerCells, lowerRuns } from "../../../src/domain/sparse/lowering.js";
import { GROUP, Indexing } from "../../../src/domain/indexed/indexing.js";
import { sparse } from "../../../src/domain/index.js";
import { activityOf } from "../../../src/domain/grid/activity.js";
import { partition } from "../../../src/domain/grid/partition.js";
import { optimise } from "../../../src/ir/passes/optimise.js";
import { Neighbours } from "../../../src/domain/indexed/neighbours.js";
import { cellRuns, RUN } from "../../../src/domain/sparse/runs.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import { f64 } from "../../../src/kernel/declare/params.js";
import { likeDense, KINDS, storesCells } from "../kinds.js";
import { jsSet, noise } from "../sets.js";

await likeDense("element-sparse", KINDS.sparse);
storesCells("element-sparse", KINDS.sparse);

/** Cells of a box with their members' indexings. */
function indexed(extents: readonly number[], active: (position: number) => boolean, members: number, width: number) {
  const size = extents.reduce((a, b) => a * b, 1);
  const mask = Uint8Array.from({ length: size }, (_, n) => (active(n) ? 1 : 0));
  const plane = size / extents.at(-1)!;
  const counts = Array.from({ length: extents.at(-1)! }, (_, p) => mask.subarray(p * plane, (p + 1) * plane).reduce((a, b) => a + b, 0));
  const before = counts.reduce((sums, count) => [...sums, sums.at(-1)! + count], [0]);
  const parts = partition(counts, members, width);
  const activity = activityOf(extents, mask);
  return {
    mask,
    indexings: parts.map((part) => new Indexing({ extents, activity, periodic: extents.map(() => false), before }, part, width)),
  };
}

describe("cells of element-sparse grids", () => {
  const extents = [13, 6, 9];
  const random = (n: number): boolean => noise(n) > 0;

  it("have numbers in global order, the own ones from a multiple of a group on", () => {
    const { mask, indexings } = indexed(extents, random, 3, 2);
    const owned: number[] = [];
    for (const indexing of indexings) {
      const { first, own, fillCell, low } = indexing;
      const positions: number[] = [];
      const indices: number[] = [];
      indexing.each((cell, position) => {
        indices.push(cell);
        positions.push(position);
        assert.equal(indexing.find(position), cell);
        if (cell >= first && cell < first + own) owned.push(position);
      });
      assert.equal(first % GROUP, 0);
      assert.deepEqual(
        indices,
        Array.from({ length: indices.length }, (_, n) => indexing.plane(low) + n),
      );
      assert.equal(indices.at(-1), fillCell - 1);
      assert.ok(positions.every((p, n) => n === 0 || p > positions[n - 1]));
      const [x, y, z] = [0, 1, 2].map((axis) => indexing.coordinates(axis));
      positions.forEach((p, n) => assert.equal(p, (z[indices[n]] * 6 + y[indices[n]]) * 13 + x[indices[n]]));
    }
    assert.deepEqual(
      owned,
      [...mask.keys()].filter((n) => mask[n]),
    );
  });

  for (const [title, active] of [
    ["random cells", random],
    ["a full box", () => true],
  ] as const)
    it(`know their neighbours: ${title}`, () => {
      const offsets = [
        [1, 0, 0],
        [-2, 1, 0],
        [0, 0, 2],
        [13, -6, -1],
      ];
      const { mask, indexings } = indexed(extents, active, 3, 2);
      for (const indexing of indexings) {
        const { near, far, groups } = connectUnits(indexing, offsets);
        const indices = new Map<number, number>();
        indexing.each((cell, position) => indices.set(position, cell));
        indexing.each((cell, position) => {
          if (cell < indexing.first || cell >= indexing.first + indexing.own) return;
          const at = [position % 13, Math.floor(position / 13) % 6, Math.floor(position / 78)];
          offsets.forEach((offset, direction) => {
            const [x, y, z] = at.map((n, axis) => n + offset[axis]);
            const there = [x, y, z].every((n, axis) => n >= 0 && n < extents[axis]) && mask[(z * 6 + y) * 13 + x];
            const entry = near[direction * groups + Math.floor(cell / GROUP)];
            const found = entry & 1 ? far[(entry >> 1) * GROUP + (cell % GROUP)] : cell + (entry >> 1);
            assert.equal(found, there ? indices.get((z * 6 + y) * 13 + x) : indexing.fillCell);
          });
        });
      }
    });

  for (const [title, active] of [
    ["random cells", random],
    ["a full box", () => true],
  ] as const)
    it(`lie in runs with all their neighbours: ${title}`, () => {
      const offsets = [
        [1, 0, 0],
        [-2, 1, 0],
        [0, 0, 2],
      ];
      for (const indexing of indexed(extents, active, 3, 2).indexings) {
        const { bounds, distances, before } = cellRuns(indexing, offsets);
        const all = new Neighbours(indexing, offsets);
        const found = offsets.map((offset) => all.at(offset).slice());
        const count = bounds.length / 2;
        let next = indexing.first;
        for (let run = 0; run < count; run++) {
          const [start, length] = bounds.subarray(2 * run, 2 * run + 2);
          assert.equal(start, next);
          assert.ok(length > 0 && length <= RUN);
          next += length;
          found.forEach((neighbours, d) => {
            for (let cell = start; cell < next; cell++) {
              const reached = cell + distances[run * offsets.length + d];
              assert.ok(reached < indexing.fillCell + RUN);
              assert.equal(Math.min(reached, indexing.fillCell), neighbours[cell - indexing.first]);
            }
          });
        }
        assert.equal(next, indexing.first + indexing.own);
        before.forEach((run, plane) => {
          const cell = indexing.plane(indexing.partition.first + plane);
          assert.equal(run < count ? bounds[2 * run] : indexing.first + indexing.own, cell);
        });
      }
    });

  it("are few runs in a full box", () => {
    const { indexings } = indexed([64, 8, 8], () => true, 1, 1);
    const { bounds } = cellRuns(indexings[0], [
      [1, 0, 0],
      [-1, 0, 0],
      [0, 1, 0],
    ]);
    assert.ok(bounds.length / 2 <= 3 * 64, `${bounds.length / 2} runs`);
  });

  it("share an entry of the table where their neighbours lie side by side", () => {
    const { indexings } = indexed([256, 16, 16], () => true, 1, 1);
    const directions = [-1, 0, 1].flatMap((dz) => [-1, 0, 1].flatMap((dy) => [-1, 0, 1].map((dx) => [dx, dy, dz])));
    const { near, far } = connectUnits(indexings[0], directions);
    assert.ok(far.length < 0.1 * near.length * GROUP, `${far.length} single neighbours beside ${near.length} entries`);
  });
});

describe("kernels of element-sparse grids", () => {
  it("read neighbours by tables, and coordinates only if used", () => {
    const grid = sparse(jsSet(1), [8, 8, 8], undefined);
    const [p, u] = [grid.field("p", f64), grid.field("u", f64, { cardinality: 2 })];
    const step = grid.container("step", { p, u }, ({ p, u }, c) => {
      u[c][1] = p.at(c, 1, 0, 0) + c.z;
    });
    const plan = { fields: new Map(step.uses.map(({ param, field }) => [param, field])) };
    const own = [
      [0, 1, 0],
      [1, 0, 0],
    ];
    const directions = { own, fine: [], coarse: [] };
    const { ir, roles } = lowerCells(step.ir, plan, directions);
    assert.deepEqual([...roles.keys()], ["near", "far", "z"]);
    assert.deepEqual(printKernel(optimise(ir)).trimEnd().split("\n"), [
      "kernel step (range i)",
      "  view p: f64[]",
      "  view u: f64[][]",
      "  view near: i32[][]",
      "  view far: i32[][]",
      "  view z: i32[]",
      "  let near_1: i32 = near[1][i >> 5]",
      "  let neighbour_1: i32 = (near_1 & 1) != 0 ? far[near_1 >> 1][i & 31] : i + (near_1 >> 1)",
      "  u[1][i] = p[neighbour_1] + f64(z[i])",
    ]);
    const byRuns = lowerRuns(step.ir, plan, directions);
    assert.deepEqual([...byRuns.roles.keys()], ["firstRun", "runs", "distances", "z"]);
    assert.deepEqual(printKernel(optimise(byRuns.ir)).trimEnd().split("\n"), [
      "kernel step (team)",
      "  view p: f64[] disjoint",
      "  view u: f64[][] disjoint",
      "  scalar firstRun: i32",
      "  view runs: i32[][]",
      "  view distances: i32[][]",
      "  view z: i32[]",
      "  let run: i32 = team.index + firstRun",
      "  let first: i32 = runs[run][0]",
      "  let distance_1: i32 = distances[run][1]",
      "  team for member until runs[run][1]",
      "    let cell: i32 = first + member",
      "    u[1][cell] = p[cell + distance_1] + f64(z[cell])",
    ]);
    grid.free();
  });
});

describe("element-sparse grids that cannot be", () => {
  it("are refused", () => {
    assert.throws(() => sparse(jsSet(1), [4, 4, 4], () => false), /none of them active/);
    assert.throws(() => sparse(jsSet(7), [4, 4, 3], undefined), /3 planes for 7 members/);
    const grid = sparse(jsSet(4), [6, 6, 8], undefined);
    const [p, q] = [grid.field("p", f64), grid.field("q", f64)];
    assert.throws(
      () =>
        grid.container("wide", { p, q }, ({ p, q }, c) => {
          q[c] = p.at(c, 0, 0, 3);
        }),
      /wide.*8 planes/,
    );
    assert.throws(() => sparse(jsSet(1), [4, 4, 4], new Uint8Array(5)), /mask of 5 bytes/);
  });
});
