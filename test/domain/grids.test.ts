import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import type { BaseGrid } from "../../src/domain/base-grid.js";
import { BrickUnitGrid } from "../../src/domain/bricks/brick-unit-grid.js";
import { SparseGrid, type Field } from "../../src/domain/index.js";
import type { Dimension } from "../../src/kernel/declare/cells.js";
import { f32, f64, i32, max, sum, table } from "../../src/kernel/declare/params.js";
import { KINDS, type Active, type Make } from "./kinds.js";
import { share } from "../random/share.js";
import { noise, onEachBackend } from "./sets.js";

const strict = { precision: "strict" } as const;

/** An element-sparse grid that runs on CPUs the kernels that it has for GPUs. */
class CellByCell extends SparseGrid {
  protected override form(): "cells" {
    return "cells";
  }
}
const kinds: readonly Make[] = [
  ...Object.values(KINDS),
  (set, extents, active, options) => new CellByCell(set, extents, { ...options, active }),
  (set, extents, active, options) => new BrickUnitGrid(set, extents, { ...options, active, brick: [4, 2, 2].slice(0, extents.length) }),
];

/** A domain by its description; it has the cell in the middle of the box, so that it is not empty. */
function domain(kind: string, extents: readonly number[], seed: number): Active {
  const middle = extents.map((n) => n >> 1);
  const inside: Record<string, Active> = {
    box: () => true,
    cell: () => false,
    random: (x, y, z) => noise(x, y, z, seed) > 0.6 * noise(seed),
    ball: (...at) =>
      middle.reduce((sum, m, axis) => sum + (at[axis] - m) ** 2, 0) <= 1 + (Math.abs(noise(seed)) * Math.min(...extents)) ** 2,
    plane: (...at) => at[seed % extents.length] === middle[seed % extents.length],
    column: (x, y) => x === middle[0] && (extents.length === 2 || y === middle[1]),
  };
  return (...at) => inside[kind](...at) || middle.every((m, axis) => at[axis] === m);
}

/** Declares a stencil at given offsets whose values are reduced. */
function declare(grid: BaseGrid, offsets: readonly (readonly number[])[]) {
  const fields = {
    p: grid.field("p", f64, { fillValue: 0.75, cardinality: 2 }),
    q: grid.field("q", f64, { fillValue: -2 }),
    n: grid.field("n", i32, { fillValue: 5 }),
  };
  const scalars = { total: grid.scalar("total", f64), single: grid.scalar("single", f32), most: grid.scalar("most", i32) };
  const params = {
    ...fields,
    rows: table(i32, offsets),
    total: sum(scalars.total),
    single: sum(scalars.single),
    most: max(scalars.most),
  };
  const gather =
    grid.dimension === 2
      ? (grid as BaseGrid<2>).container("gather", { ...params, ...(fields as Fields<2>) }, ({ p, q, n, rows, total, single, most }, c) => {
          let [value, around] = [p[c][0], 0];
          for (let k = 0; k < rows.length; k++) {
            value += p.at(c, rows[k][0], rows[k][1])[k & 1] * (k + 0.5);
            if (p.isActive(c, rows[k][0], rows[k][1])) around += c.x + 1;
          }
          q[c] = value;
          n[c] = around;
          total.add(value * value);
          single.add(Math.fround(value));
          most.max(around);
        })
      : (grid as BaseGrid<3>).container("gather", { ...params, ...(fields as Fields<3>) }, ({ p, q, n, rows, total, single, most }, c) => {
          let [value, around] = [p[c][0], 0];
          for (let k = 0; k < rows.length; k++) {
            value += p.at(c, rows[k][0], rows[k][1], rows[k][2])[k & 1] * (k + 0.5);
            if (p.isActive(c, rows[k][0], rows[k][1], rows[k][2])) around += c.x + c.z + 1;
          }
          q[c] = value;
          n[c] = around;
          total.add(value * value);
          single.add(Math.fround(value));
          most.max(around);
        });
  return { ...fields, scalars: Object.values(scalars), gather };
}
interface Fields<D extends Dimension> {
  p: Field<"f64", 2, D>;
  q: Field<"f64", 1, D>;
  n: Field<"i32", 1, D>;
}

/** What the stencil leaves behind, and in fields that went through halos. */
async function leave(grid: BaseGrid, offsets: readonly (readonly number[])[]): Promise<number[]> {
  const { p, q, n, scalars, gather } = declare(grid, offsets);
  p.fill(noise);
  await grid.run(gather, strict);
  const results = await Promise.all(scalars.map((scalar) => scalar.get()));
  return [...results, ...(await q.download()), ...(await n.download())];
}

const scenario = fc
  .record({ dimension: fc.constantFrom(2, 3), kind: fc.constantFrom("box", "cell", "random", "ball", "plane", "column") })
  .chain(({ dimension, kind }) =>
    fc.record({
      kind: fc.constant(kind),
      seed: fc.nat(1000),
      extents: fc.tuple(...[40, 9, 13].slice(0, dimension - 1).map((n) => fc.integer({ min: 3, max: n })), fc.integer({ min: 8, max: 16 })),
      offsets: fc.uniqueArray(fc.tuple(...Array.from({ length: dimension }, () => fc.integer({ min: -2, max: 2 }))), {
        minLength: 1,
        maxLength: 5,
        selector: String,
      }),
      layout: fc.constantFrom("soa" as const, "aos" as const),
      members: fc.constantFrom(1, 2, 3),
    }),
  );

await onEachBackend("grids of any domain", ({ backend, of }) => {
  it("have the same bits, dense, element-sparse or bricks", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ kind, seed, extents, offsets, layout, members }) => {
        const active = domain(kind, extents, seed);
        const single = KINDS.dense(of(1), extents, active);
        const expected = await leave(single, offsets);
        single.free();
        for (const make of kinds) {
          const grid = make(of(members), extents, active, { layout });
          assert.deepEqual(await leave(grid, offsets), expected, grid.kind);
          grid.free();
        }
      }),
      { numRuns: backend === "native" ? 6 : share(40), includeErrorInReport: true },
    );
  });
});
