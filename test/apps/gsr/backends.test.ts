import assert from "node:assert/strict";
import { test } from "node:test";
import { doctor, open } from "isoform";
import type { FormName } from "../../../apps/gsr/solver.js";
import { GENERAL_FORMS, Solver } from "../../../apps/gsr/solver.js";

const OTHERS = ["js-debug", "wasm", "native", "opencl", "cuda"];
const reports = await doctor();

/** Solution and standard errors after a few strict iterations. */
async function solve(name: string, form: FormName, globals: 0 | 1): Promise<ArrayLike<number>[]> {
  const device = await open(name);
  try {
    const solver = await Solver.create(device, { gib: 0.001, form, globals, precision: "strict" });
    await solver.solve({ iterations: 4 });
    return [await solver.solution(), await solver.standardErrors()];
  } finally {
    await device.close();
  }
}

for (const form of GENERAL_FORMS)
  for (const globals of [0, 1] as const) {
    let known: ReturnType<typeof solve> | undefined;
    for (const name of OTHERS) {
      const missing = reports.find((report) => report.backend === name)?.missing;
      test(
        `the ${form} form gives the bits of js on ${name}, with ${globals} global unknowns`,
        { skip: missing && `${name}: ${missing.reason}` },
        async () => {
          assert.deepEqual(await solve(name, form, globals), await (known ??= solve("js", form, globals)));
        },
      );
    }
  }
