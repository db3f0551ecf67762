import assert from "node:assert/strict";
import { test } from "node:test";
import { doctor, open } from "isoform";
import type { FormName } from "../../../../apps/gsr/solver.js";
import { FORMS, Solver } from "../../../../apps/gsr/solver.js";

const OTHERS = ["wasm", "native", "opencl", "cuda"];
const reports = await doctor();

/** Rows, then solution and sums of squares after a few strict iterations. */
async function solve(name: string, form: FormName): Promise<ArrayLike<number>[]> {
  const device = await open(name);
  try {
    const solver = await Solver.create(device, { generator: "scanning", stars: 20, years: 1, known: "truth", form, precision: "strict" });
    const { astrometric, attitude, instrument, global, knot, column, knownTerms } = solver.system;
    const rows = await Promise.all(
      [astrometric, attitude, instrument, global!, knot, column, knownTerms].map((view) => device.queue.read(view)),
    );
    await solver.solve({ iterations: 4 });
    return [...rows, await solver.solution(), await solver.standardErrors()];
  } finally {
    await device.close();
  }
}

for (const form of ["paper", "gathered"] as const)
  for (const name of OTHERS) {
    const missing = reports.find((report) => report.backend === name)?.missing;
    test(
      `the scanning system in the ${form} form has the bits of js on ${name}`,
      { skip: missing && `${name}: ${missing.reason}` },
      async () => {
        assert.deepEqual(await solve(name, form), await solve("js", form));
      },
    );
  }

test("all forms solve the scanning system alike", async () => {
  const device = await open("js");
  const options = { generator: "scanning", stars: 20, years: 1, seed: 2, known: "truth", precision: "strict" } as const;
  const results = [];
  for (const form of Object.keys(FORMS) as FormName[]) {
    const solver = await Solver.create(device, { ...options, form });
    const { rnorm } = await solver.solve({ iterations: 8 });
    const { norm } = await solver.residual();
    assert.ok(Math.abs(norm / rnorm - 1) < 1e-10, `${form}: ${rnorm} and ${norm}`);
    results.push(rnorm);
    solver.free();
  }
  for (const rnorm of results) assert.ok(Math.abs(rnorm / results[0] - 1) < 1e-10);
  await device.close();
});
