import assert from "node:assert/strict";
import test from "node:test";
import { sparse } from "../../../src/domain/index.js";
import { f64 } from "../../../src/kernel/declare/params.js";
import { open } from "../../../src/index.js";
import { devices } from "../../../src/set/index.js";

/** Runs of all lengths, which begin anywhere in a cache line. */
const active = (x: number, y: number, z: number): boolean => (x * 31 + y * 17 + z * 7) % 23 > (x < 40 ? 0 : 6);

async function result(backend: string): Promise<{ values: Float64Array; remarks: string }> {
  const set = await devices(backend);
  const grid = sparse(set, [90, 7, 5], active);
  const [p, s] = [grid.field("p", f64, { cardinality: 2, fillValue: 0.5 }), grid.field("s", f64, { cardinality: 2, fillValue: -1 })];
  p.fill((x, y, z, k) => Math.sin(x + 3 * y + 7 * z + k));
  const step = grid.container("step", { p, s }, ({ p, s }, c) => {
    for (let k = 0; k < 2; k++) s[c][k] = 6 * p[c][k] - p.at(c, 1, 0, 0)[1 - k] - p.at(c, 0, -1, 0)[k] * p.at(c, -1, 0, 1)[k];
  });
  await grid.run(step, { precision: "strict" });
  const launches = grid.prepare(step, 0, "standard", { precision: "strict" });
  const remarks = launches.flatMap((launch) => launch.remarks).join();
  for (const launch of launches) launch.free();
  const values = (await s.download()) as Float64Array;
  grid.free();
  await set.close();
  return { values, remarks };
}

test("runs of cells are stored past the caches by whole lines, the rest as usual", async (t) => {
  try {
    await (await open("native")).close();
  } catch (error) {
    return t.skip((error as Error).message);
  }
  const before = process.env.ISOFORM_STREAMING;
  try {
    const expected = (await result("js")).values;
    for (const wish of ["never", "always"]) {
      process.env.ISOFORM_STREAMING = wish;
      const { values, remarks } = await result("native");
      assert.match(remarks, wish === "always" ? /stores to "s": non-temporal/ : /through the caches/);
      assert.deepEqual(values, expected);
    }
  } finally {
    if (before === undefined) delete process.env.ISOFORM_STREAMING;
    else process.env.ISOFORM_STREAMING = before;
  }
});
