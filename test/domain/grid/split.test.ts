import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { boxExchange } from "../../../src/domain/container/box-exchange.js";
import type { Partition } from "../../../src/domain/grid/parts.js";
import type { Split } from "../../../src/domain/grid/options.js";
import { divisionOf } from "../../../src/domain/grid/split.js";
import { dense, makeGrid, sparse } from "../../../src/domain/index.js";
import { randomCuts } from "../cuts.js";
import { jsSet } from "../sets.js";

describe("splits of grids", () => {
  it("divide members along z, along y, or in the way with the least surface", () => {
    const division = (extents: number[], members: number, split?: Split) => {
      const { y, z } = divisionOf(extents, members, split);
      return `${y} x ${z}`;
    };
    assert.equal(division([9, 64, 64], 4), "1 x 4");
    assert.equal(division([9, 64, 64], 4, "y"), "4 x 1");
    assert.equal(division([9, 64, 64], 4, "yz"), "2 x 2");
    assert.equal(division([9, 96, 32], 6, "yz"), "3 x 2");
    assert.equal(division([9, 32, 96], 6, "yz"), "2 x 3");
    assert.equal(division([9, 64, 64], 3, "yz"), "1 x 3");
    assert.equal(division([9, 64, 1], 4, "yz"), "4 x 1");
    assert.equal(division([9, 64], 4, "y"), "1 x 4");
    assert.equal(division([9, 4, 1], 1, "y"), "1 x 1");
    assert.equal(division([1024, 1024, 1024], 16, "auto"), "1 x 16");
    assert.equal(division([1024, 1024, 1024], 64, "auto"), "4 x 16");
    assert.equal(division([1024, 1024, 1], 8, "auto"), "8 x 1");
  });

  it("are refused where they cannot be, with the remedy", () => {
    for (const [make, message] of [
      [() => dense(jsSet(4), [20, 40, 1]), /1 plane for 4 members: cut along y with \{ split: "y" \}, or use fewer devices/],
      [() => dense(jsSet(4), [20, 20, 9], { split: "y" }), /20 rows for 4 members, .* 8 rows; use fewer devices .*\{ split: "z" \}/],
      [() => dense(jsSet(7), [20, 40, 3], { split: "yz" }), /3 planes of 40 rows for 7 members.*fewer devices or a larger grid/],
      [() => dense(jsSet(2), [20, 40], { split: "yz" }), /it has no z axis, and is cut along y; leave it out/],
      [() => dense(jsSet(2), [20, 40, 4], { split: "x" as "y" }), /it cannot be cut so; use "z", "y", "yz", "auto"/],
      [() => dense(jsSet(4), [8, 48, 4], { split: "y", levels: 1 }), /48 rows for 4 members, which begin at multiples of 16 rows/],
      [() => dense(jsSet(4), [8, 16, 2], { split: "yz", levels: 1 }), /have at least 2 planes, and begin at multiples of 16 rows/],
      [() => dense(jsSet(2), [8, 48, 4], { split: "y" }).coarsen(), /the rows of js\*2\[1\] begin at 24; give the finest grid/],
      [() => sparse(jsSet(2), [8, 32, 4], undefined, { split: "y" } as object), /only dense grids have the option/],
      [() => makeGrid(jsSet(2), [8, 32, 4], { kind: "bricks", split: "y" }), /a bricks grid has no option "split"/],
    ] as const)
      assert.throws(make, { name: "LaunchError", message });
  });
});

describe("the exchange of partials of boxes", () => {
  it("brings each partial to the member that has the first one of its group, in the order of the box", () => {
    const size = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(
        fc.constantFrom(3, 300, 600),
        size,
        size,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        fc.nat(99),
        (nx, ny, nz, py, pz, seed) => {
          fc.pre(py <= ny && pz <= nz);
          const [y, z] = [randomCuts(ny, py, seed), randomCuts(nz, pz, seed + 1)];
          const partitions = z
            .slice(1)
            .flatMap((end, k) =>
              y
                .slice(1)
                .map((stop, n): Partition => ({ device: n + py * k, first: z[k], planes: end - z[k], rows: [y[n], stop], cells: 0 })),
            );
          const { owned, groups, folded, pieces, root } = boxExchange({ extents: [nx, ny, nz], partitions });
          // The places of partials, by member in the order of its rows.
          const each = Math.ceil(nx / 256);
          const places = partitions.map(({ first, planes, rows }) =>
            Array.from({ length: planes }, (_, plane) =>
              Array.from({ length: (rows![1] - rows![0]) * each }, (_, n) => ((first + plane) * ny + rows![0]) * each + n),
            ).flat(),
          );
          assert.deepEqual(
            owned,
            places.map((list) => list.length),
          );
          const received = folded.map((count) => Array<number>(count).fill(-1));
          for (const { from, to, count, runs } of pieces) {
            assert.equal(
              count,
              runs.reduce((sum, run) => sum + run.count, 0),
            );
            for (const run of runs) for (let n = 0; n < run.count; n++) received[to][run.folded + n] = places[from][run.own + n];
          }
          const total = each * ny * nz;
          groups.forEach((list, m) => {
            const expected = list.flatMap((group) => Array.from({ length: Math.min(256, total - 256 * group) }, (_, n) => 256 * group + n));
            assert.deepEqual(received[m], expected);
            for (const group of list) assert.ok(places[m].includes(256 * group));
          });
          assert.equal(groups.flat().length, Math.ceil(total / 256));
          assert.ok(places[root].includes(0));
        },
      ),
      { numRuns: 60, seed: 1 },
    );
  });
});
