import assert from "node:assert/strict";
import { test } from "node:test";
import { LaunchError } from "isoform";
import { devices } from "isoform/set";
import { divide } from "../../../apps/gsr/division.js";
import { Scalars } from "../../../apps/gsr/scalars.js";
import { scaledShape, starRows } from "../../../apps/gsr/shape.js";
import type { SolverOptions } from "../../../apps/gsr/solver.js";
import { Solver } from "../../../apps/gsr/solver.js";

/* The same system on one member and on several. */

const simulated = { gib: 0.002, seed: 5 } as const;
const scanning = {
  generator: "scanning",
  stars: 24,
  years: 1,
  known: "truth",
  seed: 3,
  plane: { rows: 2, strips: 3, shortRow: 2 },
} as const;

async function solve(spec: string, options: SolverOptions, system: typeof simulated | typeof scanning, iterations: number) {
  const set = await devices(spec);
  try {
    const solver = await Solver.create(set, { ...system, ...options });
    const { rnorm, arnorm, acond, istop } = await solver.solve({ iterations, atol: 1e-8 });
    const [x, errors] = [await solver.solution(), await solver.standardErrors()];
    const probes = system === scanning ? await solver.probes(2, { iterations: 3 }) : undefined;
    const { norm } = await solver.residual();
    solver.free();
    return { x, errors, norms: { rnorm, arnorm, acond, norm }, draws: probes?.draws, istop };
  } finally {
    await set.close();
  }
}

const FORMS = [
  { form: "fused" },
  { form: "fused", norm: "merged" },
  { form: "gathered" },
  { form: "ordered" },
  { form: "factored" },
] as const;
for (const [name, system] of Object.entries({ simulated, scanning }))
  for (const options of FORMS.filter(({ form }) => form !== "factored" || system === scanning))
    test(`the ${name} system has strict bits of one member on several: ${JSON.stringify(options)}`, async () => {
      const strict = { ...options, precision: "strict" } as const;
      const one = await solve("js", strict, system, 12);
      for (const spec of ["js*2", "wasm*3", "js,wasm*3"]) assert.deepEqual(await solve(spec, strict, system, 12), one, spec);
    });

/** The largest difference in standard errors. */
const distance = (a: { x: Float64Array; errors: Float64Array }, b: { x: Float64Array }): number =>
  a.x.reduce((most, x, j) => Math.max(most, a.errors[j] > 0 ? Math.abs(x - b.x[j]) / a.errors[j] : Math.abs(x - b.x[j])), 0);

test("members and the merged norm reach the solution of one member in fast mode", async () => {
  const one = await solve("wasm", { form: "fused" }, scanning, 10_000);
  assert.equal(one.istop, 2);
  const others: readonly (readonly [spec: string, norm: SolverOptions["norm"]])[] = [
    ["wasm", "merged"],
    ["wasm*3", "separate"],
    ["wasm*3", "merged"],
  ];
  for (const [spec, norm] of others) {
    const other = await solve(spec, { form: "fused", norm }, scanning, 10_000);
    assert.equal(other.istop, 2, `${spec}, ${norm}`);
    assert.ok(distance(one, other) < 1e-2, `${spec}, ${norm}: ${distance(one, other)}`);
  }
});

test("where the merged norm is in doubt it is summed anew, which gives the bits of separate sums", async () => {
  const strict = { form: "fused", precision: "strict" } as const;
  const separate = await solve("js*2", strict, scanning, 12);
  const merged = await solve("js*2", { ...strict, norm: "merged" }, scanning, 12);
  assert.notDeepEqual(merged.x, separate.x);
  const { read } = Scalars.prototype;
  Scalars.prototype.read = async function (this: Scalars) {
    return (await read.call(this)).map((scalars) => ({ ...scalars, doubt: 1 }));
  };
  try {
    assert.deepEqual(await solve("js*2", { ...strict, norm: "merged" }, scanning, 12), separate);
  } finally {
    Scalars.prototype.read = read;
  }
});

test("stars are shared out in runs of about equally many rows, whose cuts are the same for any number of members", () => {
  const starRow = starRows(scaledShape(0.002));
  const tiles = divide(starRow, 1, true)[0].tiles;
  assert.equal(tiles.length, 12);
  for (const members of [2, 3, 5, 12]) {
    const parts = divide(starRow, members, true);
    assert.deepEqual(
      parts.flatMap((part) => part.tiles),
      tiles,
    );
  }
  const parts = divide(starRow, 5, false);
  assert.deepEqual(
    parts.map((part) => part.tiles.length),
    [1, 1, 1, 1, 1],
  );
  const rows = parts.map((part) => part.rows[1] - part.rows[0]);
  const star = Math.max(...starRow.subarray(1).map((end, s) => end - starRow[s]));
  assert.ok(Math.max(...rows) - Math.min(...rows) <= 2 * star, String(rows));
});

test("what does not go on several members is refused", async () => {
  const set = await devices("js*13");
  await assert.rejects(
    Solver.create(set, { ...simulated, form: "paper" }),
    /the form paper runs on one device, and js\*13 has 13 members: take the form fused, gathered or ordered/,
  );
  await assert.rejects(
    Solver.create(set, { ...simulated, form: "fused", precision: "strict" }),
    /13 devices for a system whose 36 stars make 12 parts in strict mode: give fewer devices, or --precision fast/,
  );
  await assert.rejects(Solver.create(set, { ...simulated, form: "paper" }), LaunchError);
  await set.close();
  const one = await devices("js");
  await assert.rejects(Solver.create(one, { ...simulated, form: "paper", norm: "merged" }), /the form paper has no merged norm/);
  await one.close();
});
