import { LaunchError } from "isoform";
import type { Application, PreparedApplication, ProblemOptions, Sample, Verdict } from "isoform/portability";
import { ITERATION } from "isoform/portability";
import { givenSettings, gridReport, roundOff } from "../grids.js";
import { BYTES_PER_CELL, DEFAULTS, makePoisson } from "./poisson.js";

const sizeOf = ({ gib, quick }: ProblemOptions): number => gib ?? (quick ? 0.02 : 0.25);
const iterationsOf = ({ iterations, quick }: ProblemOptions): number => iterations ?? (quick ? 5 : 20);

const TOLERANCE = 1e-11;

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
    const iterations = iterationsOf(options);
    const { precision } = set.members[0].device;
    const poisson = await makePoisson(set, { ...DEFAULTS, precision, ...givenSettings(options), size: edge(gib) });
    const work = await poisson.skeleton.work();

    const prepared: PreparedApplication = {
      problem: `poisson ${gib} GiB`,

      async run(): Promise<Sample[]> {
        await poisson.reset();
        const seconds = (await poisson.skeleton.run(iterations)).seconds / iterations;
        return [
          { quantity: ITERATION, seconds, ...work },
          { quantity: "conjugate gradients", seconds, ...work },
        ];
      },

      async validate(): Promise<Verdict> {
        const maxError = await poisson.drift();
        return { ok: maxError < TOLERANCE * roundOff(set), maxError, against: "residual b - A x of the solution, relative to b" };
      },

      report: () => gridReport(poisson),

      free: () => poisson.free(),
    };
    return prepared;
  },
};
