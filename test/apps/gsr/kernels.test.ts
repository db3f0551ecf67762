import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { paperKernels } from "../../../apps/gsr/paper.js";
import { instrumentLayout } from "../../../apps/gsr/shape.js";
import { Solver } from "../../../apps/gsr/solver.js";

const device = await open("js");
const solver = await Solver.create(device, { gib: 0.003, globals: 1 });
after(async () => {
  solver.free();
  await device.close();
});

const { observations: N, stars: S, knots, ...rest } = solver.system.shape;
const attitude = 3 * knots;
const instrument = instrumentLayout({ observations: N, stars: S, knots, ...rest }).size;

/**
 * The published counts, but for row indices of 4 bytes where the published code has 8, one array of S + 1 star rows where it has two of
 * 8 bytes, and v, read and written by a2Astro, counted twice.
 */
const COUNTS: Record<string, { bytes: number; flops: number }> = {
  a1Astro: { bytes: 60 * N + 40 * S, flops: 11 * N },
  a1Att: { bytes: 116 * N + 8 * attitude, flops: 25 * N },
  a1Instr: { bytes: 88 * N + 8 * instrument, flops: 13 * N },
  a2Astro: { bytes: 48 * N + 80 * S + 4 * (S + 1), flops: 10 * N + 5 * S },
  a2Att: { bytes: 108 * N + 8 * attitude, flops: 12 * N },
  a2Instr: { bytes: 80 * N + 8 * instrument, flops: 6 * N },
  a1Glob: { bytes: 24 * N + 8, flops: 2 * N },
  a2Glob: { bytes: 16 * N, flops: 2 * N },
};

for (const name of paperKernels(solver.shape))
  test(`work counted for ${name}`, () => {
    const { bytes, flops } = solver.steps.find((step) => step.name === name)!.launch.cost;
    assert.deepEqual({ bytes, flops }, COUNTS[name]);
  });
