import assert from "node:assert/strict";
import { test } from "node:test";
import { doctor, open } from "isoform";
import { Solver } from "../../../apps/gsr/solver.js";

const missing = (await doctor()).find((report) => report.backend === "webgpu")?.missing;

async function solve(name: string, globals: 0 | 1): Promise<{ x: ArrayLike<number>; rnorm: number }> {
  const device = await open(name, { f64: "emulate" });
  try {
    const solver = await Solver.create(device, { gib: 0.001, form: "fused", globals });
    const { rnorm } = await solver.solve({ iterations: 6 });
    return { x: await solver.solution(), rnorm };
  } finally {
    await device.close();
  }
}

for (const globals of [0, 1] as const)
  test(
    `the fused form on webgpu follows js with emulated f64, with ${globals} global unknowns`,
    { skip: missing && `webgpu: ${missing.reason}` },
    async () => {
      const [here, there] = [await solve("js", globals), await solve("webgpu", globals)];
      assert.ok(Math.abs(there.rnorm / here.rnorm - 1) < 1e-11, `|r| is ${there.rnorm} instead of ${here.rnorm}`);
      const worst = Math.max(...Array.from(here.x, (x, j) => Math.abs(x - there.x[j])));
      // The condition number, some 10^4, times 2^-44.
      assert.ok(worst < 1e-8, `unknowns differ by ${worst}`);
    },
  );
