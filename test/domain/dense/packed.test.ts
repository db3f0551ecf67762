import assert from "node:assert/strict";
import { test } from "node:test";
import { f64, sum } from "../../../src/index.js";
import { dense, type DenseOptions } from "../../../src/domain/index.js";
import { skeleton, swap } from "../../../src/skeleton/index.js";
import { devices } from "../../../src/set/index.js";
import { tested } from "../../devices.js";

/** Values of a diffusing field after some steps, and their sum: the fill value is 3. */
async function diffused(device: string, extents: readonly [number, number, number], options: DenseOptions) {
  const set = await devices(device);
  try {
    const grid = dense(set, extents, options);
    const [u, v] = ["u", "v"].map((name) => grid.field(name, f64, { fillValue: 3 }));
    const total = grid.scalar("total", f64);
    u.fill((x, y, z) => x + 10 * y + 100 * z);
    const step = grid.container("step", { u, v, total: sum(total) }, ({ u, v, total }, c) => {
      let inside = 0;
      if (u.isActive(c, 1, 0, 0)) inside += 1;
      if (u.isActive(c, -2, 0, 0)) inside += 2;
      v[c] = 0.125 * (u.at(c, 1, 0, 0) + u.at(c, -2, 0, 0) + u.at(c, -1, 1, 0) + u.at(c, 0, 0, -1)) + 0.5 * u[c] + inside;
      total.add(v[c]);
    });
    const plan = skeleton(set, "diffusion", [step, swap(u, v)], { precision: "strict", unroll: 2 });
    await plan.run(4);
    return { values: await u.download(), total: await total.get() };
  } finally {
    await set.close();
  }
}

const round = (x: number, _y: number, z: number): boolean => (x - 8) ** 2 + (z - 4) ** 2 < 40;

for (const device of ["js", "wasm", "native", "wasm*3"].filter(tested))
  for (const active of [undefined, round])
    test(`rows without padding give the same bits, ${active ? "some cells active" : "all cells active"}, on ${device}`, async () => {
      const [padded, packed] = await Promise.all([false, true].map((packed) => diffused(device, [16, 5, 9], { active, packed })));
      assert.deepEqual(packed, padded);
    });

test("rows keep their padding where other cells are written, and on grids with coarser ones", async () => {
  const set = await devices("js");
  const grid = dense(set, [16, 4, 4], { packed: true, levels: 1 });
  const [u, coarse] = [grid.field("u", f64), grid.coarsen().field("coarse", f64)];
  u.fill((x) => x);
  const restrict = coarse.grid.container("restrict", { u, coarse }, ({ u, coarse }, c) => {
    coarse[c] = u.fine(c, -1, 0, 0) + u.fine(c, 2, 0, 0);
  });
  await coarse.grid.run(restrict);
  assert.deepEqual([...(await coarse.download())].slice(0, 8), [2, 5, 9, 13, 17, 21, 25, 13]);
  const other = dense(set, [16, 4], { packed: true });
  const [a, b] = [other.field("a", f64), other.field("b", f64, { cardinality: 2 })];
  a.fill((x, y) => x + 16 * y);
  b.fill(0);
  await other.run(
    other.container("spread", { a, b }, ({ a, b }, c) => {
      b.at(c, 1, 0)[0] = a[c];
    }),
  );
  const moved = [...(await b.download())].filter((_, n) => n % 2 === 0);
  assert.deepEqual(moved.slice(14, 19), [13, 14, 0, 16, 17]);
  await set.close();
});
