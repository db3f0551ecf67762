import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { doctor, open } from "isoform";
import { devices } from "isoform/set";
import { compareSolutions } from "../../../apps/gsr/compare.js";
import { scanningRows } from "../../../apps/gsr/scanning/index.js";
import type { FormName, ScanningSystemOptions, SimulatedOptions, SolverOptions } from "../../../apps/gsr/solver.js";
import { Solver } from "../../../apps/gsr/solver.js";
import type { SolutionFile } from "../../../apps/gsr/solution-file.js";
import { weighted } from "../../../apps/gsr/robust.js";
import { main } from "../../cli/isoform.js";

/* Coefficients in f32: corrections bring the solution to that of f64, whatever the form, the device, the norm and the loops around it. */

/** Known terms with noise: what is left of them is as large as they are wrong. */
const SKY: ScanningSystemOptions & SolverOptions = { generator: "scanning", stars: 20, years: 1, known: "truth", seed: 4, form: "ordered" };
/** Known terms without: x = 1 leaves nothing. */
const RANDOM: SimulatedOptions & SolverOptions = { generator: "parallel", gib: 0.002, seed: 1 };
const EXACT = { iterations: 20_000, atol: 0 };
/** Corrected solutions in terms of those with coefficients in f64, and uncorrected ones, which rounding has moved. */
const BARS = { corrected: 1e-12, rounded: 1e-9 };

const reports = await doctor();
const folder = await mkdtemp(join(tmpdir(), "isoform-gsr-f32-"));
after(() => rm(folder, { recursive: true }));

function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const differences = Array.from(a, (value, j) => value - b[j]);
  return Math.hypot(...differences) / Math.hypot(...Array.from(b));
}

async function solve(spec: string, options: SolverOptions & (ScanningSystemOptions | SimulatedOptions), stopping = EXACT) {
  const emulate = spec === "webgpu" ? ({ f64: "emulate" } as const) : {};
  const set = await devices(spec, emulate);
  try {
    const solver = await Solver.create(set, options);
    const solution = await solver.solve(stopping);
    const x = await solver.solution();
    return { solution, x, residual: (await solver.residual()).norm };
  } finally {
    await set.close();
  }
}

let known: ReturnType<typeof solve> | undefined;
/** The solution with coefficients in f64. */
const exact = () => (known ??= solve("js", SKY));

/** Each form on some devices. */
const DEVICES: readonly (readonly [form: FormName, specs: readonly string[]])[] = [
  ["fused", ["js", "js*2", "cuda"]],
  ["sorted", ["wasm"]],
  ["gathered", ["native", "cuda"]],
  ["ordered", ["js", "native*2", "wasm", "cuda"]],
  ["factored", ["js", "native", "wasm*2", "cuda"]],
];
for (const [form, specs] of DEVICES)
  for (const spec of specs) {
    const missing = reports.find(({ backend }) => backend === spec.split("*")[0])?.missing;
    test(`corrections bring the solution to that of f64: ${form} on ${spec}`, { skip: missing && missing.reason }, async () => {
      const { x } = await exact();
      const options = { ...SKY, form, coefficients: "f32" } as const;
      const corrected = await solve(spec, options);
      assert.ok(distance(corrected.x, x) < BARS.corrected, `differs by ${distance(corrected.x, x)}`);
      assert.equal(corrected.solution.istop, 5);
      assert.ok(corrected.solution.corrections! >= 1 && corrected.solution.corrections! <= 4);
      assert.ok(Math.abs(corrected.residual / corrected.solution.rnorm - 1) < 1e-12);
      const rounded = await solve(spec, { ...options, corrections: 0 });
      assert.ok(distance(rounded.x, x) > BARS.rounded, `differs by ${distance(rounded.x, x)} without corrections`);
      assert.equal(rounded.solution.corrections, 0);
    });
  }

test("where known terms leave no residual, x = 1 comes out to f64's precision, by the merged norm as well", async () => {
  for (const norm of ["separate", "merged"] as const) {
    const options = { ...RANDOM, form: "fused", norm, coefficients: "f32" } as const;
    const { x, solution } = await solve("native", options);
    const ones = new Float64Array(x.length).fill(1);
    assert.ok(distance(x, ones) < 1e-14, `differs by ${distance(x, ones)}`);
    assert.equal(solution.istop, 4);
    const rounded = await solve("native", { ...options, corrections: 0 });
    assert.ok(distance(rounded.x, ones) > BARS.rounded);
    const one = await solve("native", { ...options, corrections: 1 });
    assert.equal(one.solution.corrections, 1);
    assert.ok(distance(one.x, ones) < 1e-11);
  }
});

test("corrections share the limit of iterations", async () => {
  const { solution } = await solve("js", { ...SKY, coefficients: "f32" }, { iterations: 10, atol: 0 });
  assert.deepEqual([solution.istop, solution.iterations, solution.corrections], [7, 10, 0]);
  const seen: number[] = [];
  const device = await open("js");
  const solver = await Solver.create(device, { ...SKY, coefficients: "f32" });
  const all = await solver.solve({ iterations: 2500, atol: 0, onIteration: (done) => void seen.push(done) });
  assert.deepEqual([all.istop, all.iterations, seen.length, seen.at(-1)], [7, 2500, 2500, 2500]);
  assert.ok(all.corrections! >= 1);
  await device.close();
});

for (const name of ["webgpu", "opencl"]) {
  const missing = reports.find(({ backend }) => backend === name)?.missing;
  test(`${name} has coefficients in f32`, { skip: missing && missing.reason }, async () => {
    const options = { ...RANDOM, gib: 0.001, form: "gathered", coefficients: "f32" } as const;
    const [here, there] = [await solve("js", options, { iterations: 6, atol: 0 }), await solve(name, options, { iterations: 6, atol: 0 })];
    assert.ok(Math.abs(there.residual / here.residual - 1) < 1e-11, `|r| is ${there.residual} instead of ${here.residual}`);
    assert.ok(distance(there.x, here.x) < 1e-8);
  });
}

test("standard errors by probes follow those of f64, with one side or four; weighted rows are corrected as others are", async () => {
  const device = await open("native");
  const errors = async (options: SolverOptions): Promise<Float64Array> => {
    const solver = await Solver.create(device, { ...SKY, ...options });
    return (await solver.probes(5, { iterations: 20_000, atol: 1e-8 })).errors;
  };
  const all = await errors({});
  for (const sides of [1, 4] as const) {
    const found = await errors({ coefficients: "f32", sides });
    const worst = Math.max(...Array.from(all, (error, j) => (error > 0 ? Math.abs(found[j] / error - 1) : found[j])));
    assert.ok(worst > 0 && worst < 1e-2, `errors differ by ${worst} of themselves`);
  }
  const source = await scanningRows(device, SKY, 4);
  const weights = Float64Array.from({ length: source.shape.observations }, (_, i) => (i % 7 === 0 ? 0.1 : 1));
  const [exactly, rounded] = await Promise.all(
    (["f64", "f32"] as const).map(async (coefficients) => {
      const solver = await Solver.of(device, weighted(source, weights), { form: "ordered", coefficients });
      await solver.solve(EXACT);
      return solver.solution();
    }),
  );
  assert.ok(distance(rounded, exactly) < BARS.corrected, `weighted solutions differ by ${distance(rounded, exactly)}`);
  await device.close();
});

test("coefficients that do not determine a solution say so", async () => {
  const device = await open("js");
  const source = await scanningRows(device, { ...SKY, frame: false }, 4);
  // A source whose frame is free, and which does not tell.
  const untold = { ...source, frameIsFixed: true };
  const solver = await Solver.of(device, untold, { form: "fused", coefficients: "f32" });
  const { istop } = await solver.solve(EXACT);
  assert.equal(istop, 6);
  await device.close();
});

test("f32 is refused in strict mode, without coefficients of rows, and where the frame is free", async () => {
  const device = await open("js");
  const create = (options: SolverOptions) => Solver.create(device, { ...SKY, coefficients: "f32", ...options });
  await assert.rejects(
    create({ precision: "strict" }),
    /strict mode has no coefficients in f32.*: take --coefficients f64, or --precision fast/,
  );
  await assert.rejects(create({ form: "paper" }), /the form paper is the published program's.*: take --coefficients f64, or another form/);
  await assert.rejects(
    Solver.create(device, { ...SKY, frame: false, coefficients: "f32" }),
    /the frame is free, and rounded coefficients would turn it: leave --frame on, or take --coefficients f64/,
  );
  const plans: number[] = [];
  for (const coefficients of ["f64", "f32"] as const)
    (await Solver.create(device, { ...SKY, coefficients, sides: 1, onPlan: ({ bytes }) => plans.push(bytes) })).free();
  // 92 bytes a row more, less 44 of the copies.
  assert.equal(plans[1] - plans[0], (92 - 44) * (await scanningRows(device, SKY, 4)).shape.observations);
  await device.close();
});

test("solutions tell that coefficients were f32, and their errors may differ by a hundredth", () => {
  const shape = { stars: 1, observations: 2, knots: 4, ccds: 1, pixels: 1, intervals: 1, globals: 0 } as SolutionFile["system"]["shape"];
  const system = { generator: "scanning", seed: 1, shape, options: {} };
  const solution = (scale: number, coefficients?: string): SolutionFile => ({
    system,
    precision: "fast",
    probes: 5,
    ...(coefficients ? { coefficients } : {}),
    x: [1, 2],
    standardErrors: [scale, scale],
  });
  assert.ok(!compareSolutions(solution(1), solution(1.005)).ok);
  assert.ok(compareSolutions(solution(1), solution(1.005, "f32")).ok);
  assert.ok(!compareSolutions(solution(1), solution(1.02, "f32")).ok);
});

const gsr = (...words: readonly string[]) => spawnSync(process.execPath, [main, "gsr", "--no-kernels", ...words], { encoding: "utf8" });

test("a run that is ended in a correction goes on there; other coefficients are refused", async () => {
  const [state, whole, resumed] = ["state", "whole.json", "resumed.json"].map((name) => join(folder, name));
  const words = ["--stars", "20", "--years", "1", "--known", "truth", "--seed", "4", "--form", "ordered", "--atol", "0", "--devices", "js"];
  const first = gsr(...words, "--coefficients", "f32", "--checkpoint", state, "--every", "900", "--out", whole);
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stdout, /^coefficients {5}f32, \d corrections? with f64; \|A\^T r\|\/\(\|A\|\|r\|\) with f64 \d\.\d+e-1[567]$/m);
  // The last checkpoint is one of a correction: the first solution ends before.
  assert.match((await readFile(state)).toString("latin1"), /"refinement":\{"corrections":[1-4]/);
  const again = gsr("--restart", state, "--devices", "js", "--out", resumed);
  assert.equal(again.status, 0, again.stderr);
  const [a, b] = (await Promise.all([whole, resumed].map((path) => readFile(path, "utf8")))).map(
    (text) => JSON.parse(text) as SolutionFile,
  );
  assert.equal(a.coefficients, "f32");
  assert.ok(distance(b.x, a.x) < BARS.corrected);
  assert.deepEqual(b.standardErrors, a.standardErrors);
  const refuses = (message: RegExp, ...more: readonly string[]): void => {
    const { status, stderr } = gsr(...more);
    assert.match(stderr, message);
    assert.equal(status, 2);
  };
  refuses(/the checkpoint was made with --coefficients f32: leave --coefficients out/, "--restart", state, "--coefficients", "f64");
  refuses(/--corrections is for --coefficients f32: give that, or leave it out/, "--corrections", "2");
});
