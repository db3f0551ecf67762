import assert from "node:assert/strict";
import { it } from "node:test";
import { f64, i32 } from "isoform";
import type { Cell, FieldAccess } from "../../src/domain/index.js";
import { KINDS, sphere, type Active } from "./kinds.js";
import { callPlainly, type PlainField } from "./plain-container.js";
import { noise, onEachBackend } from "./sets.js";

const EXTENTS = [20, 12, 14] as const;
const OUTSIDE = 0.25;

interface Params {
  u: FieldAccess<3, 3>;
  v: FieldAccess<3, 3>;
  n: FieldAccess<1, 3>;
}

/** Neighbours in all directions, of which one is a whole turn away, their activity, and coordinates. */
function around({ u, v, n }: Params, c: Cell<3>): void {
  for (let k = 0; k < 3; k++)
    v[c][k] =
      u[c][k] + 2 * u.at(c, 2, 0, 0)[k] - u.at(c, -1, 1, 0)[k] + 3 * u.at(c, 0, -1, 1)[k] - u.at(c, 20, 0, -2)[k] * u.at(c, -2, -2, 2)[k];
  n[c] = c.x + 100 * c.y + 10000 * c.z;
  if (u.isActive(c, 1, 0, 0)) n[c] += 1000000;
  if (u.isActive(c, 0, -1, 0)) n[c] += 2000000;
  if (u.isActive(c, 0, 0, 2)) n[c] += 4000000;
}

/** What two runs of `around`, there and back, leave in u, v and n. */
function plainly(periodic: readonly boolean[], active: Active | undefined): number[][] {
  const [nx, ny, nz] = EXTENTS;
  const cells = Array.from({ length: nx * ny * nz }, (_, p) => [p % nx, Math.floor(p / nx) % ny, Math.floor(p / nx / ny)]);
  const isActive = ([x, y, z]: readonly number[]) => active?.(x, y, z) ?? true;
  const mask = Uint8Array.from(cells, (cell) => (isActive(cell) ? 1 : 0));
  const make = (cardinality: number, outside: number, value: (x: number, y: number, z: number, k: number) => number): PlainField => ({
    extents: EXTENTS,
    cardinality,
    outside,
    periodic,
    active: mask,
    data: Float64Array.from(
      cells.flatMap(([x, y, z], p) => Array.from({ length: cardinality }, (_, k) => (mask[p] ? value(x, y, z, k) : outside))),
    ),
  });
  const [u, v, n] = [make(3, OUTSIDE, noise), make(3, OUTSIDE, () => 0), make(1, -7, () => 0)];
  callPlainly(around, { u, v, n }, [0, 0, 0], EXTENTS, isActive);
  callPlainly(around, { u: v, v: u, n }, [0, 0, 0], EXTENTS, isActive);
  return [u, v, n].map(({ data }) => [...data]);
}

onEachBackend("periodic grids", ({ all }) => {
  for (const [title, periodic, active] of [
    ["all axes of the whole box", [true, true, true], undefined],
    ["all axes of a sphere that is cut", [true, true, true], sphere],
    ["x alone", [true, false, false], undefined],
    ["y alone", [false, true, false], undefined],
    ["z alone", [false, false, true], sphere],
  ] as const)
    it(`read across ends that meet as the function itself does: ${title}`, async () => {
      const expected = plainly(periodic, active);
      for (const kind of ["dense", "sparse"] as const)
        for (const set of all) {
          const grid = KINDS[kind](set, EXTENTS, active, { periodic });
          const [u, v] = ["u", "v"].map((name) => grid.field(name, f64, { cardinality: 3, outside: OUTSIDE }));
          const n = grid.field("n", i32, { outside: -7 });
          const there = grid.container("there", { u, v, n }, around as never);
          const back = grid.container("back", { u: v, v: u, n }, around as never);
          u.fill(noise);
          await grid.run(there, { precision: "strict" });
          await grid.run(back, { precision: "strict" });
          const found = await Promise.all([u, v, n].map(async (field) => [...(await field.download())]));
          assert.deepEqual(found, expected, `${kind} on ${set.name}`);
          grid.free();
        }
    });
});
