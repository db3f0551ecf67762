import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { solveRobustly, weightOf } from "../../../../apps/gsr/robust.js";
import { scanningRows } from "../../../../apps/gsr/scanning/index.js";
import { isOutlier } from "../../../../apps/gsr/truth.js";

const device = await open("wasm");
after(() => device.close());

const OUTLIERS = 0.01;
const SEED = 5;
const options = { stars: 40, years: 1, known: "truth", outliers: OUTLIERS, plane: { rows: 2, strips: 3, shortRow: 2 } } as const;

test("weights fall from 1 at two deviations smoothly", () => {
  assert.deepEqual([weightOf(0), weightOf(2)], [1, 1]);
  assert.ok(Math.abs(weightOf(3 - 1e-9) - weightOf(3)) < 1e-5);
  for (let z = 2; z < 30; z += 0.1) assert.ok(weightOf(z + 0.1) < weightOf(z));
});

test("outliers lose their weight, other observations keep it, and the weights settle", async () => {
  const source = await scanningRows(device, options, SEED);
  const { solver, weights, turns, settled } = await solveRobustly(
    device,
    source,
    { form: "fused", seed: SEED },
    { iterations: 10_000, atol: 1e-8 },
  );
  assert.ok(settled && turns.length >= 3 && turns.length <= 8, JSON.stringify(turns));
  const outlying = [...weights.keys()].filter((i) => isOutlier(i, SEED, OUTLIERS));
  assert.ok(outlying.length > 0.005 * weights.length && outlying.length < 0.02 * weights.length);
  const low = outlying.filter((i) => weights[i] < 0.5).length;
  assert.ok(low >= 0.95 * outlying.length, `${low} of ${outlying.length}`);
  const lost = [...weights.keys()].filter((i) => weights[i] < 0.5).length - low;
  assert.ok(lost <= 0.015 * weights.length, `${lost} of ${weights.length}`);
  // The scale of what is left is the noise, 1, on the few degrees of freedom that a small system leaves.
  assert.ok(Math.abs(turns[turns.length - 1].deviation - 1) < 0.2, JSON.stringify(turns));
  solver.free();
});
