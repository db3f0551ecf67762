import { LaunchError } from "isoform";
import type { Application, PreparedApplication, ProblemOptions, Sample, Verdict } from "isoform/portability";
import { ITERATION } from "isoform/portability";
import { givenSettings, gridReport, roundOff } from "../grids.js";
import { BYTES_PER_CELL, DEFAULTS, makePoisson } from "./poisson.js";
import { Manufactured } from "./problem.js";

const sizeOf = ({ gib, quick }: ProblemOptions): number => gib ?? (quick ? 0.02 : 0.25);
const iterationsOf = ({ iterations, quick }: ProblemOptions): number => iterations ?? (quick ? 5 : 20);

const TOLERANCE = 1e-11;
const SOLVER = "conjugate gradients";
const AGAINST = "residual b - A x of the solution, relative to b";

/** Cells along each axis of the cube that takes `gib`. */
function edge(gib: number): number {
  const cells = Math.floor(((gib * 2 ** 30) / BYTES_PER_CELL) ** (1 / 3));
  if (!(cells >= 4 && cells ** 3 < 2 ** 31))
    throw new LaunchError(`a cube of ${gib} GiB: it can have from 4 to 1290 cells along each axis, 3e-6 to 80 GiB`);
  return cells;
}

export const application: Application = {
  name: "poisson",
  summary: "Poisson equation, 7-point differences, matrix-free conjugate gradients",

  onGrid: true,

  footprint: (options) => BYTES_PER_CELL * edge(sizeOf(options)) ** 3,

  async prepare(set, options) {
    const gib = sizeOf(options);
    const { precision } = set.locals[0].device;
    const poisson = await makePoisson(set, { ...DEFAULTS, precision, ...givenSettings(options), size: edge(gib) });
    const work = await poisson.skeleton.work();

    const prepared: PreparedApplication = {
      problem: `poisson ${gib} GiB`,

      async run(iterations = iterationsOf(options)): Promise<Sample[]> {
        await poisson.reset();
        const seconds = (await poisson.skeleton.run(iterations)).seconds / iterations;
        return [
          { quantity: ITERATION, seconds, ...work },
          { quantity: SOLVER, seconds, ...work },
        ];
      },

      async validate(): Promise<Verdict> {
        const maxError = await poisson.drift();
        return { ok: maxError < TOLERANCE * roundOff(set), maxError, against: AGAINST };
      },

      report: () => gridReport(poisson),

      free: () => poisson.free(),
    };
    return prepared;
  },

  byHand(options) {
    const gib = sizeOf(options);
    const n = edge(gib);
    const b = new Manufactured(n).rightSides();
    return {
      program: "poisson",
      problem: `poisson ${gib} GiB`,
      iterations: iterationsOf(options),
      sizes: [n],
      inputs: [b],
      outputs: [n ** 3, n ** 3],
      quantities: [ITERATION, SOLVER],
      validate([x, r]) {
        const maxError = drift(n, { b, x, r });
        return { ok: maxError < TOLERANCE, maxError, against: AGAINST };
      },
    };
  },
};

/** Largest difference between r and b - A x, relative to the largest of b. */
function drift(n: number, { b, x, r }: Readonly<Record<"b" | "x" | "r", Float64Array>>): number {
  let [most, difference] = [0, 0];
  const [plane, row] = [n * n, n];
  for (let i = 0, z = 0; z < n; z++)
    for (let y = 0; y < n; y++)
      for (let k = 0; k < n; k++, i++) {
        let around = 0;
        if (k > 0) around += x[i - 1];
        if (k < n - 1) around += x[i + 1];
        if (y > 0) around += x[i - row];
        if (y < n - 1) around += x[i + row];
        if (z > 0) around += x[i - plane];
        if (z < n - 1) around += x[i + plane];
        most = Math.max(most, Math.abs(b[i]));
        const error = Math.abs(b[i] - (6 * x[i] - around) - r[i]);
        // A NaN must not be lost.
        if (!(error <= difference)) difference = error;
      }
  return difference / most;
}
