import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { devices } from "isoform/set";
import { hooks } from "../../../src/device/tools/hooks.js";
import { Convergence, SECTION_NAMES } from "../../../apps/gsr/section-steps.js";
import { sections } from "../../../apps/gsr/shape.js";
import type { SolverOptions } from "../../../apps/gsr/solver.js";
import { Solver } from "../../../apps/gsr/solver.js";

const device = await open("js");
after(() => device.close());

const SYSTEM = { generator: "scanning", stars: 20, years: 1, known: "truth", seed: 2, plane: { rows: 2, strips: 3, shortRow: 2 } } as const;
const ITERATIONS = 60;

/** Solves and records, and keeps x as it is after each iteration. */
async function recorded(spec: string, options: SolverOptions) {
  const set = await devices(spec);
  const solver = await Solver.create(set, { ...SYSTEM, ...options });
  const convergence = new Convergence();
  const xs: Float64Array[] = [new Float64Array(sections(solver.shape).unknowns)];
  const gradients = [0];
  const solution = await solver.solve({
    iterations: ITERATIONS,
    convergence,
    async onIteration(_, { arnorm, anorm, rnorm }) {
      xs.push(await solver.solution());
      gradients.push(arnorm / (anorm * rnorm));
    },
  });
  const x = await solver.solution();
  const { shape } = solver;
  solver.free();
  await set.close();
  return { convergence, xs, gradients, shape, solution, x };
}

for (const [spec, options] of [
  ["js", { form: "paper" }],
  ["js", { form: "gathered" }],
  ["wasm*2", { form: "fused" }],
] as const)
  test(`squares of steps are those of x itself: ${options.form} on ${spec}`, async () => {
    const { convergence, xs, gradients, shape } = await recorded(spec, options);
    const { attitude, instrument, global, unknowns } = sections(shape);
    const bounds = [0, attitude, instrument, global, unknowns];
    const { points } = convergence;
    assert.deepEqual(
      points.map(({ iteration }) => iteration),
      Array.from({ length: ITERATIONS }, (_, n) => n + 1).filter((n) => convergence.isDue(n)),
    );
    assert.ok(points.length > 20 && points.length < ITERATIONS);
    for (const { iteration, squares, gradient } of points) {
      assert.equal(gradient, gradients[iteration]);
      for (const [n, section] of SECTION_NAMES.entries()) {
        let sum = 0;
        for (let j = bounds[n]; j < bounds[n + 1]; j++) sum += (xs[iteration][j] - xs[iteration - 1][j]) ** 2;
        assert.ok(sum > 0 && Math.abs(squares[n] - sum) <= 1e-12 * sum, `${section}, iteration ${iteration}: ${squares[n]} and ${sum}`);
      }
    }
  });

test("a solution that is recorded has the bits of one that is not", async () => {
  const { x } = await recorded("js", { form: "fused" });
  const solver = await Solver.create(device, { ...SYSTEM, form: "fused" });
  await solver.solve({ iterations: ITERATIONS });
  assert.deepEqual(await solver.solution(), x);
  solver.free();
});

test("corrections of coefficients in f32 are counted on", async () => {
  const set = await devices("wasm");
  const solver = await Solver.create(set, { ...SYSTEM, form: "fused", coefficients: "f32" });
  const convergence = new Convergence();
  const { iterations, corrections } = await solver.solve({ iterations: 20_000, atol: 1e-10, convergence });
  assert.ok(corrections! > 0);
  const counted = convergence.points.map(({ iteration }) => iteration);
  assert.ok(counted.every((n, at) => at === 0 || n > counted[at - 1]) && counted[counted.length - 1] > 0.8 * iterations, counted.join(" "));
  solver.free();
  await set.close();
});

test("iterations are recorded evenly over their logarithm", () => {
  const convergence = new Convergence();
  const due = Array.from({ length: 10_000 }, (_, n) => n + 1).filter((n) => convergence.isDue(n));
  assert.deepEqual(due.slice(0, 9), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const counts = [10, 100, 1000].map((from) => due.filter((n) => n >= from && n < 10 * from).length);
  assert.deepEqual(counts.slice(1), [24, 24]);
  assert.ok(counts[0] > 20 && counts[0] <= 24);
});

test("the plan of memory has what the record takes", async () => {
  for (const spec of ["js", "js*2"]) {
    const set = await devices(spec);
    const planned: number[] = [];
    let taken = 0;
    for (const convergence of [false, true]) {
      const options = { form: "fused", sides: 1, convergence, onPlan: ({ bytes }: { bytes: number }) => planned.push(bytes) } as const;
      const solver = await Solver.create(set, { ...SYSTEM, ...options });
      if (convergence) {
        const detach = hooks.attach({ allocate: ({ bytes }) => void (taken += bytes) });
        await solver.solve({ iterations: 3, convergence: new Convergence() });
        detach();
      }
      solver.free();
    }
    assert.ok(taken > 0);
    assert.equal(planned[1] - planned[0], taken, spec);
    await set.close();
  }
});
