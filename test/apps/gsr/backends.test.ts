import assert from "node:assert/strict";
import { test } from "node:test";
import { doctor, open } from "isoform";
import type { FormName } from "../../../apps/gsr/solver.js";
import { GENERAL_FORMS, Solver } from "../../../apps/gsr/solver.js";

const OTHERS = ["js-debug", "wasm", "native", "cuda"];
const reports = await doctor();

/** Solution and standard errors after a few strict iterations. */
async function solve(name: string, form: FormName): Promise<ArrayLike<number>[]> {
  const device = await open(name);
  try {
    const solver = await Solver.create(device, { gib: 0.001, form, precision: "strict" });
    await solver.solve({ iterations: 4 });
    return [await solver.solution(), await solver.standardErrors()];
  } finally {
    await device.close();
  }
}

for (const form of GENERAL_FORMS) {
  let known: ReturnType<typeof solve> | undefined;
  for (const name of OTHERS) {
    const missing = reports.find((report) => report.backend === name)?.missing;
    test(`the ${form} form gives the bits of js on ${name}`, { skip: missing && `${name}: ${missing.reason}` }, async () => {
      assert.deepEqual(await solve(name, form), await (known ??= solve("js", form)));
    });
  }
}
