import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bricks, dense, sparse } from "../../src/domain/index.js";
import { f32, f64 } from "../../src/kernel/declare/params.js";
import { skeleton } from "../../src/skeleton/index.js";
import { jsSet, noise, onEachBackend } from "./sets.js";
import { sphere } from "./kinds.js";

/* Containers that write other cells: each component of a field at one offset only, so that no two cells meet. */

const EXTENTS = [19, 11, 14] as const;
const FILL_VALUE = 0.25;
const STEPS = 3;

/** What each component of a cell is after some steps of `exchange`, by loops over a host array. */
function expected(active: (x: number, y: number, z: number) => boolean): number[] {
  const [nx, ny, nz] = EXTENTS;
  const inside = (x: number, y: number, z: number): boolean => x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz && active(x, y, z);
  const at = (x: number, y: number, z: number, k: number): number => ((z * ny + y) * nx + x) * 3 + k;
  const u = Array.from({ length: nx * ny * nz * 3 }, () => FILL_VALUE);
  const each = (visit: (x: number, y: number, z: number) => void): void => {
    for (let z = 0; z < nz; z++) for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++) if (inside(x, y, z)) visit(x, y, z);
  };
  const get = (x: number, y: number, z: number, k: number): number => (inside(x, y, z) ? u[at(x, y, z, k)] : FILL_VALUE);
  const set = (x: number, y: number, z: number, k: number, value: number): void => {
    if (inside(x, y, z)) u[at(x, y, z, k)] = value;
  };
  each((x, y, z) => [0, 1, 2].forEach((k) => set(x, y, z, k, noise(x, y, z, k))));
  for (let n = 0; n < STEPS; n++)
    each((x, y, z) => {
      const [a, b] = [get(x + 1, y, z, 0), get(x, y - 1, z + 1, 1)];
      set(x + 1, y, z, 0, 0.5 * b + x);
      set(x, y - 1, z + 1, 1, a - get(x, y, z, 2));
      set(x, y, z, 2, a + b);
    });
  return u;
}

onEachBackend("writing other cells", ({ of }) => {
  for (const [domain, active] of [
    ["the whole box", undefined],
    ["a sphere", sphere],
  ] as const)
    for (const layout of ["soa", "aos"] as const)
      it(`${domain}, ${layout}: each value goes to its cell, and nothing to cells that are not there`, async () => {
        const grid = dense(of(1), EXTENTS, { active, layout });
        const u = grid.field("u", f64, { cardinality: 3, fillValue: FILL_VALUE });
        const exchange = grid.container("exchange", { u }, ({ u }, c) => {
          const a = u.at(c, 1, 0, 0)[0];
          const b = u.at(c, 0, -1, 1)[1];
          u.at(c, 1, 0, 0)[0] = 0.5 * b + c.x;
          u.at(c, 0, -1, 1)[1] = a - u[c][2];
          u[c][2] = a + b;
        });
        assert.deepEqual(exchange.uses[0].spread, [
          [1, 0, 0],
          [0, -1, 1],
        ]);
        u.fill(noise);
        // Twice the same, so that fusion has a reason to try.
        const twice = skeleton(of(1), "twice", [exchange], { precision: "strict" });
        await twice.run(STEPS);
        assert.deepEqual([...(await u.download())], expected(active ?? (() => true)));
        twice.free();
        grid.free();
      });
});

describe("writing other cells", () => {
  it("is not merged with what comes before or after", async () => {
    const grid = dense(jsSet(1), EXTENTS);
    const u = grid.field("u", f32, { cardinality: 2 });
    const shift = grid.container("shift", { u }, ({ u }, c) => {
      u.at(c, 1, 0, 0)[0] = Math.fround(u[c][1] + 1);
    });
    const keep = grid.container("keep", { u }, ({ u }, c) => {
      u[c][1] = u[c][0];
    });
    u.fill((x, y, z, k) => (k === 1 ? x : 0));
    const plan = skeleton(jsSet(1), "shift and keep", [shift, keep, shift], {});
    await plan.run(1);
    assert.match(await plan.explain(), /"shift" writes cells other than its own/);
    // First x, then x - 1 + 1 for all but the first column, then once more.
    assert.equal(await u.get([5, 0, 0], 0), 5);
    assert.equal(await u.get([0, 0, 0], 0), 0);
    plan.free();
    grid.free();
  });

  it("reads the fill value back where there is no cell", async () => {
    const grid = dense(jsSet(1), EXTENTS);
    const u = grid.field("u", f64, { cardinality: 2, fillValue: FILL_VALUE });
    const echo = grid.container("echo", { u }, ({ u }, c) => {
      u.at(c, 1, 0, 0)[0] = 5;
      u[c][1] = u.at(c, 1, 0, 0)[0];
    });
    await grid.run(echo);
    assert.deepEqual([await u.get([3, 0, 0], 1), await u.get([EXTENTS[0] - 1, 0, 0], 1)], [5, FILL_VALUE]);
    grid.free();
  });

  it("is refused where a neighbour may lie elsewhere", () => {
    for (const grid of [dense(jsSet(2), EXTENTS), sparse(jsSet(1), EXTENTS, sphere), bricks(jsSet(1), EXTENTS, sphere)]) {
      const u = grid.field("u", f64, { cardinality: 2 });
      assert.throws(
        () =>
          grid.container("shift", { u }, ({ u }, c) => {
            u.at(c, 1, 0, 0)[0] = u[c][1];
          }),
        /container "shift".*writes the field "u" at offset \[1,0,0\] of a (dense|sparse|bricks) grid on js.*dense grids of one member only/s,
      );
    }
  });
});
