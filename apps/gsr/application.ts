import type { Application, PreparedApplication, ProblemOptions, Sample, Verdict } from "isoform/p3";
import { ITERATION } from "isoform/p3";
import type { Solution } from "./lsqr.js";
import { PAPER_KERNELS } from "./paper.js";
import { hostRows, residualNorm } from "./reference.js";
import { Solver, shapeOf } from "./solver.js";
import { footprint } from "./system.js";

const sizeOf = ({ gib, quick }: ProblemOptions): number => gib ?? (quick ? 0.02 : 0.25);
const iterationsOf = ({ iterations, quick }: ProblemOptions): number => iterations ?? (quick ? 5 : 20);

/** Between LSQR's running estimate of |b - A x| and the true one, relative to |b|; and between the solutions of two runs. */
const RESIDUAL_TOLERANCE = 1e-10;
const REPEAT_TOLERANCE = 1e-8;

export const application: Application = {
  name: "gsr",
  summary: "LSQR on the simulated system of the Gaia mission's AVU-GSR pipeline",

  footprint: (options) => footprint(shapeOf({ gib: sizeOf(options) })),

  async prepare(device, options, progress) {
    const gib = sizeOf(options);
    const iterations = iterationsOf(options);
    const seed = 0;
    const solver = await Solver.create(device, { gib, seed, precision: options.precision }, progress);
    const costs = new Map(solver.steps.map(({ name, launch }) => [name, launch.cost]));
    const bytes = solver.steps.reduce((total, { launch }) => total + launch.cost.bytes, 0);
    const flops = solver.steps.reduce((total, { launch }) => total + launch.cost.flops, 0);
    let last: Solution | undefined;
    let validated: ArrayLike<number> | undefined;

    const prepared: PreparedApplication = {
      problem: `gsr ${gib} GiB`,

      async run(progress) {
        last = await solver.solve({ iterations, timed: true, onIteration: (done) => progress?.(done, iterations, "iterations") });
        const { secondsPerIteration, steps } = last;
        const kernels = PAPER_KERNELS.map((quantity): Sample => ({ quantity, seconds: steps[quantity], ...costs.get(quantity) }));
        return [{ quantity: ITERATION, seconds: secondsPerIteration, bytes, flops }, ...kernels];
      },

      /** The first run by its true residual, made again on the host; later runs by the first one's solution. */
      async validate(): Promise<Verdict> {
        if (!last) throw new Error("validate() before run()");
        const x = await solver.solution();
        if (!validated) {
          const truth = residualNorm(solver.system.shape, hostRows(solver.system.shape, "parallel", seed), x);
          const maxError = Math.abs(last.rnorm - truth) / last.bnorm;
          const ok = maxError < RESIDUAL_TOLERANCE;
          if (ok) validated = x;
          return { ok, maxError, against: "|b - A x| by plain JavaScript, relative to |b|" };
        }
        let maxError = 0;
        for (let j = 0; j < x.length; j++) maxError = Math.max(maxError, Math.abs(x[j] - validated[j]));
        return { ok: maxError < REPEAT_TOLERANCE, maxError, against: "solution of the first run" };
      },

      free: () => solver.free(),
    };
    return prepared;
  },
};
