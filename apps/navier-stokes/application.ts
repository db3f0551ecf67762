import { LaunchError } from "isoform";
import type { Application, PreparedApplication, ProblemOptions, Sample, Verdict } from "isoform/portability";
import { ITERATION } from "isoform/portability";
import { boxFlow } from "./cases/box-flow.js";
import { configOf } from "./config/config.js";
import { denseOnly } from "./dense-only.js";
import { Simulation } from "./simulation/simulation.js";

const sizeOf = ({ gib, quick }: ProblemOptions): number => gib ?? (quick ? 0.01 : 0.25);
const iterationsOf = ({ iterations, quick }: ProblemOptions): number => iterations ?? (quick ? 2 : 10);

/** Conserved values of this stage and the next, rates, a third of the divergence, and what a pipeline may hold. */
const WORDS = 20;
const LEAST_CELLS = 8;
const TOLERANCE = 1e-11;

/** Cells along each axis of the cube that takes `gib`. */
function edge(gib: number): number {
  const cells = Math.floor(((gib * 2 ** 30) / (8 * WORDS)) ** (1 / 3));
  if (!(cells >= LEAST_CELLS && cells ** 3 * 5 < 2 ** 31))
    throw new LaunchError(`a cube of ${gib} GiB: it can have from ${LEAST_CELLS} to 754 cells along each axis`);
  return cells;
}

export const application: Application = {
  name: "navier-stokes",
  summary: "compressible Navier-Stokes, central scheme of order 6, the vortices of Taylor and Green",

  onGrid: true,
  grids: ["dense"],

  footprint: (options) => 8 * WORDS * edge(sizeOf(options)) ** 3,

  async prepare(set, options) {
    const gib = sizeOf(options);
    const n = edge(gib);
    const config = configOf("box", { flow: "taylor-green", nx: n, ny: n, nz: n, viscous: "conservative" });
    const flow = boxFlow(config);
    const layout = denseOnly(options.grid, options.layout);
    const { occ = "standard", precision = set.locals[0].device.precision } = options;
    const simulation = await Simulation.create(set, flow, { layout, occ, precision });
    const work = await simulation.skeleton.work();
    const before = totals(await simulation.fields.w.download());

    const prepared: PreparedApplication = {
      problem: `navier-stokes ${gib} GiB`,

      async run(iterations = iterationsOf(options)): Promise<Sample[]> {
        const seconds = (await simulation.run(iterations)) / iterations;
        return [
          { quantity: ITERATION, seconds, ...work },
          { quantity: "three stages", seconds, ...work },
        ];
      },

      /** Mass, momentum and energy, which nothing may change. */
      async validate(): Promise<Verdict> {
        const after = totals(await simulation.fields.w.download());
        const maxError = Math.max(...after.map((sum, k) => Math.abs(sum - before[k]) / before[0]));
        return { ok: maxError < TOLERANCE, maxError, against: "the first mass, momentum and energy, by the mass" };
      },

      report: () => ({ grid: "dense", layout, occ: simulation.skeleton.occ, choices: simulation.skeleton.choices }),

      free: () => simulation.free(),
    };
    return prepared;
  },
};

/** Sums of the five conserved values. */
function totals(w: ArrayLike<number>): number[] {
  const sums = [0, 0, 0, 0, 0];
  for (let n = 0; n < w.length; n++) sums[n % 5] += w[n];
  return sums;
}
