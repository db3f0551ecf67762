import assert from "node:assert/strict";
import { it } from "node:test";
import { f32, f64, i32 } from "isoform";
import { sphere, KINDS } from "./kinds.js";
import { skeleton } from "../../src/skeleton/index.js";
import { particles } from "../../src/domain/particles/index.js";
import { dense } from "../../src/domain/index.js";
import { jsSet, onEachBackend } from "./sets.js";

const EXTENTS = [20, 12, 14] as const;
const [NX, NY, NZ] = EXTENTS;
const CELLS = Array.from({ length: NX * NY * NZ }, (_, p) => [p % NX, Math.floor(p / NX) % NY, Math.floor(p / NX / NY)] as const);

/** Values with other digits at every coordinate. */
const along = (factor: number) => (n: number) => Math.sin(factor * n) * n;
const [wide, high, deep] = [along(1.1), along(0.7), along(0.3)];

onEachBackend("arrays along an axis", ({ all }) => {
  for (const [active, periodic] of [
    [undefined, true],
    [sphere, false],
  ] as const)
    it(`give each cell the values of its coordinates, and beyond${active ? ", in a sphere" : ""}${periodic ? ", on rings" : ""}`, async () => {
      const expected = CELLS.map(([x, y, z]) => {
        const dx = wide(x - 2) + wide(x - 1) + wide(x) + wide(x + 1) + wide(x + 2);
        return active && !active(x, y, z) ? 0 : dx * high(y) - deep(z + 1) * deep(z - 1) + 1;
      });
      for (const [kind, make] of Object.entries(KINDS)) {
        if (kind === "bricks" && periodic) continue;
        for (const set of all) {
          const grid = make(set, EXTENTS, active, { periodic });
          const x = grid.axis("x", f64, wide, { ghosts: 2 });
          const y = grid.axis(
            "y",
            f64,
            Float64Array.from({ length: NY }, (_, n) => high(n)),
          );
          const z = grid.axis("z", f64, deep, { ghosts: 1 });
          const [p, q] = [grid.field("p", f64), grid.field("q", f64)];
          const first = grid.container("first", { p, x, y }, ({ p, x, y }, c) => {
            let sum = x.at(c, -2);
            for (let d = -1; d <= 2; d++) sum += x.at(c, d);
            p[c] = sum * y[c];
          });
          const second = grid.container("second", { p, q, z, width: x }, ({ p, q, z, width }, c) => {
            q[c] = p[c] - z.at(c, 1) * z.at(c, -1) + (width[c] - width[c]) + 1;
          });
          const steps = skeleton(set, "steps", [first, second], { precision: "strict" });
          await steps.run(1);
          assert.deepEqual([...(await q.download())], expected, `${kind} on ${set.name}`);
          steps.free();
          grid.free();
        }
      }
    });

  it("are of every type, take other values, and index by what is computed", async () => {
    for (const set of all) {
      const grid = dense(set, [NX, 16]);
      const single = grid.axis("x", f32, (n) => n / 3);
      const whole = grid.axis("y", i32, (n) => 7 * n, { ghosts: 3 });
      const p = grid.field("p", f64);
      const mix = grid.container("mix", { p, single, whole }, ({ p, single, whole }, c) => {
        p[c] = 3 * single[c] + whole.at(c, c.x % 4);
      });
      await grid.run(mix, { precision: "strict" });
      assert.equal(await p.get([6, 10]), 6 + 7 * 12);
      whole.set((n) => -n);
      await grid.run(mix, { precision: "strict" });
      assert.equal(await p.get([7, 10]), 7 - 13);
      grid.free();
    }
  });
});

it("arrays along an axis are there for particles, too", async () => {
  const set = await jsSet(2);
  const grid = dense(set, [4, 4, 8]);
  const beam = particles(grid, "beam", { w: f64 });
  beam.load({ x: [0.5, 0.5, 2.5, 3.5, 1.5, 6.5], w: [0, 0] });
  const z = grid.axis("z", f64, (n) => 10 * n);
  const weigh = beam.container("weigh", { w: beam.columns.w, z }, ({ w, z }, p, c) => {
    w[p] = z[c];
  });
  for (const container of weigh) await grid.run(container);
  const { w } = await beam.download();
  assert.deepEqual([...w].sort(), [20, 60]);
});

it("arrays along an axis that do not fit are refused", async () => {
  const set = await jsSet(1);
  const grid = dense(set, [8, 6]);
  const other = dense(set, [8, 6]);
  const q = other.field("q", f64);
  const p = grid.field("p", f64);
  assert.throws(() => grid.axis("z" as "x", f64, [1]), /a grid of 2 dimensions has no axis "z"; use one of x, y/);
  assert.throws(() => grid.axis("x", f64, [1, 2]), /an array along x is given 2 values; it takes 8, one for each coordinate/);
  assert.throws(() => grid.axis("x", f64, [1, 2], { ghosts: 1 }), /it takes 10, one for each coordinate and 1 ghosts at each end/);
  assert.throws(() => grid.axis("x", f64, () => 0, { ghosts: -1 }), /has -1 ghosts; give a whole number/);
  assert.throws(() => grid.axis("x", f64, () => 0, { halo: 1 } as object), /has no option "halo"/);
  assert.throws(() => grid.axis("x", i32, () => 0.5), /which i32 cannot hold/);
  const noReturn = (() => undefined) as unknown as () => number;
  assert.throws(() => grid.axis("x", f64, noReturn), /an array along x, the value at \[0\] is nothing: give numbers/);
  assert.throws(() => grid.axis("y", f64, ["1", 2, 3, 4, 5, 6] as number[]), /value 0 is a string: give numbers/);
  const m = grid.axis("x", f64, () => 0, { ghosts: 1 });
  assert.throws(
    () =>
      grid.container("far", { p, m }, ({ p, m }, c) => {
        p[c] = m.at(c, 2);
      }),
    /reads m at distance 2 from the cell, and it has 1 ghosts/,
  );
  assert.throws(
    () =>
      other.container("foreign", { q, m }, ({ q, m }, c) => {
        q[c] = m[c];
      }),
    /along an axis of another grid/,
  );
  assert.throws(
    () =>
      grid.container("bare", { p, m }, ({ p, m }, c) => {
        p[c] = m as unknown as number;
      }),
    /m is an array along an axis and is used as a number/,
  );
});
