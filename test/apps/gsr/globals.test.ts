import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import type { Precision } from "isoform";
import { devices } from "isoform/set";
import { exportSystem } from "../../../apps/gsr/files/system-export.js";
import type { Norm } from "../../../apps/gsr/fused.js";
import type { Shape } from "../../../apps/gsr/shape.js";
import { scaledShape, sections } from "../../../apps/gsr/shape.js";
import type { SimulatedName } from "../../../apps/gsr/simulated.js";
import { SIMULATED, simulatedRows } from "../../../apps/gsr/simulated.js";
import type { FormName, Layout } from "../../../apps/gsr/solver.js";
import { GENERAL_FORMS, LAYOUTS, Solver } from "../../../apps/gsr/solver.js";
import { python, pythonLacks } from "../../io/table/python.js";
import { plainLsqr } from "./plain-lsqr.js";
import { distance, plainMatrix } from "./plain-system.js";

/* Systems of random coefficients, with a global section and without, in all forms. */

const folder = await mkdtemp(join(tmpdir(), "isoform-gsr-globals-"));
after(() => rm(folder, { recursive: true }));
const scipy = await pythonLacks("scipy");
const ITERATIONS = 5;

interface Case {
  readonly gib: number;
  readonly globals: 0 | 1;
  readonly generator: SimulatedName;
  readonly seed: number;
  readonly spec: string;
  readonly form: FormName;
  readonly layout: Layout | undefined;
  readonly norm: Norm;
  readonly precision: Precision;
}

/** Unknowns after some steps of plain LSQR on the host's matrix, whose columns are scaled as the solver's. */
function expected(shape: Shape, { generator, seed }: Case): number[] {
  const plain = plainMatrix(shape, generator, seed);
  const norms = new Float64Array(sections(shape).unknowns);
  for (const row of plain) for (const { column, value } of row) norms[column] += value * value;
  const p = norms.map((square) => 1 / Math.sqrt(square));
  const scaled = plain.map((row) => row.map(({ column, value }) => ({ column, value: value * p[column] })));
  const b = plain.map((row) => row.reduce((t, { value }) => t + value, 0));
  return Array.from(plainLsqr(scaled, b, p.length, ITERATIONS).x, (e, j) => e * p[j]);
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    gib: fc.constantFrom(0.001, 0.0013),
    globals: fc.constantFrom(0, 1, 1),
    generator: fc.constantFrom(...SIMULATED),
    seed: fc.nat(1000),
    spec: fc.constantFrom("js", "wasm", "js*2", "wasm*3", "js,wasm*2"),
    form: fc.constantFrom(...GENERAL_FORMS),
    layout: fc.constantFrom(undefined, ...(Object.keys(LAYOUTS) as Layout[])),
    norm: fc.constantFrom("separate", "merged"),
    precision: fc.constantFrom("fast", "strict"),
  })
  // The form paper runs on one device, with the norm separate.
  .map((one) => (one.form === "paper" ? { ...one, spec: one.spec.slice(0, 2) === "js" ? "js" : "wasm", norm: "separate" } : one));

test("steps are plain LSQR's for random options, with a global unknown and without", () =>
  fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const { gib, globals, generator, seed, spec, ...options } = one;
      const shape = scaledShape(gib, globals);
      const set = await devices(spec);
      try {
        const solver = await Solver.of(set, simulatedRows(shape, generator, seed), options);
        await solver.solve({ iterations: ITERATIONS });
        const x = await solver.solution();
        assert.equal(x.length, sections(shape).unknowns);
        assert.ok(distance(x, expected(shape, one)) < 1e-9, `${distance(x, expected(shape, one))}`);
        if (globals === 1) assert.ok(Math.abs(x.at(-1)! - expected(shape, one).at(-1)!) < 1e-9);
        solver.free();
      } finally {
        await set.close();
      }
    }),
    { numRuns: 16 },
  ));

for (const form of GENERAL_FORMS)
  test(`the whole solution is 1, the global unknown included, in the form ${form}`, async () => {
    const set = await devices("wasm");
    const solver = await Solver.create(set, { gib: 0.002, globals: 1, form });
    const { istop } = await solver.solve({ iterations: 5000 });
    assert.equal(istop, 4);
    const { max } = await solver.deviation();
    assert.ok(max < 1e-9, `${max}`);
    solver.free();
    await set.close();
  });

test("SciPy's LSQR solves an exported system with a global section alike", { skip: scipy }, async () => {
  const set = await devices("wasm");
  const solver = await Solver.create(set, { gib: 0.001, globals: 1, form: "gathered" });
  await solver.solve({ iterations: ITERATIONS });
  const x = await solver.solution();
  const file = join(folder, "s.npz");
  await exportSystem(file, solver);
  const program = `
import sys, json, numpy as np, scipy.sparse as sp
from scipy.sparse.linalg import lsqr
z = np.load(sys.argv[1])
a = sp.load_npz(sys.argv[1])
y = lsqr(a, z["b"], atol=0, btol=0, conlim=0, iter_lim=${ITERATIONS})[0]
print(json.dumps([(y * z["scaling"]).tolist(), int(a.getcol(a.shape[1] - 1).nnz)]))`;
  const [theirs, entries]: [number[], number] = JSON.parse(await python(program, file));
  assert.equal(entries, solver.shape.observations);
  assert.ok(distance(x, theirs) < 1e-9, `${distance(x, theirs)}`);
  solver.free();
  await set.close();
});

test("corrections with coefficients in f32 reach the solution, whose global coefficients stay f64", async () => {
  const set = await devices("wasm");
  const solver = await Solver.create(set, { gib: 0.002, globals: 1, form: "ordered", coefficients: "f32" });
  await solver.solve({ iterations: 5000 });
  const { max } = await solver.deviation();
  assert.ok(max < 1e-9, `${max}`);
  solver.free();
  await set.close();
});

test("a state of one number of members goes on in another, the global unknown with it", async () => {
  const system = { gib: 0.001, globals: 1, seed: 2, form: "fused", precision: "strict" } as const;
  const sets = [await devices("js"), await devices("js*3")];
  const [whole, parts] = await Promise.all(sets.map((set) => Solver.create(set, system)));
  for (const solver of [whole, parts]) await solver.solve({ iterations: 6 });
  const read = async (solver: Solver) =>
    Object.fromEntries(await Promise.all((await solver.state()).map(async (array) => [array.name, await array.read()] as const)));
  assert.deepEqual(await read(parts), await read(whole));
  assert.equal((await whole.solution()).length, sections(scaledShape(0.001, 1)).unknowns);
  for (const [n, solver] of [whole, parts].entries()) {
    solver.free();
    await sets[n].close();
  }
});
