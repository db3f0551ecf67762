import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeGrid } from "../../src/domain/make-grid.js";
import { f64 } from "../../src/index.js";
import { devices } from "../../src/set/index.js";
import { skeleton, swap } from "../../src/skeleton/index.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-skeleton-tuning-"));
process.env.XDG_CACHE_HOME = folder;
after(() => rmSync(folder, { recursive: true }));

/** The strict state after a few steps of smoothing, and what `explain` says of the launches. */
async function smoothed(spec: string, tune: boolean): Promise<{ values: string; tuning: string[] }> {
  const set = await devices(spec, { tune });
  try {
    const grid = makeGrid(set, [24, 20], { kind: "dense" });
    const [u, next] = [grid.field("u", f64), grid.field("next", f64)];
    const step = grid.container("step", { u, next }, ({ u, next }, c) => {
      next[c] = u[c] + 0.1 * (u.at(c, -1, 0) + u.at(c, 1, 0) + u.at(c, 0, -1) + u.at(c, 0, 1) - 4 * u[c]);
    });
    const plan = skeleton(set, "smoothing", [step, swap(u, next)], { precision: "strict", occ: "standard" });
    u.fill((x, y) => Math.sin(x + 2 * y));
    await plan.run(5);
    const tuning = (await plan.explain()).split("\n").filter((line) => line.includes(": tuning: "));
    return { values: (await u.download()).join(), tuning };
  } finally {
    await set.close();
  }
}

for (const spec of ["wasm", "wasm*2"])
  test(`a skeleton on ${spec} measures its launches in the first run, and gives the same bits`, async (t) => {
    const untuned = await smoothed(spec, false);
    assert.deepEqual(untuned.tuning, []);
    const tuned = await smoothed(spec, true);
    assert.equal(tuned.values, untuned.values);
    if (tuned.tuning.length === 0) return t.skip("one thread: there is nothing to choose");
    for (const line of tuned.tuning) assert.match(line, /step: tuning: .*, measured: /);
  });
