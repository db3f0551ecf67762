import { LaunchError } from "isoform";
import type { Application, PreparedApplication, ProblemOptions, Sample, Verdict } from "isoform/portability";
import { ITERATION } from "isoform/portability";
import { givenSettings, gridReport } from "../grids.js";
import { cavity } from "./cavity.js";
import { D3Q19 } from "./lattice.js";
import { stepCells } from "./reference.js";
import { ratesOf, Simulation } from "./simulation.js";

const sizeOf = ({ gib, quick }: ProblemOptions): number => gib ?? (quick ? 0.02 : 0.25);
const iterationsOf = ({ iterations, quick }: ProblemOptions): number => iterations ?? (quick ? 5 : 20);

/** Two populations of 19, velocity, density and kind. */
const BYTES_PER_CELL = 8 * (2 * 19 + 3 + 1) + 1;
const REYNOLDS = 100;
const TOLERANCE = 1e-12;

/** Cells along each axis of the cavity that takes `gib`, walls included. */
function edge(gib: number): number {
  const cells = Math.floor(((gib * 2 ** 30) / BYTES_PER_CELL) ** (1 / 3));
  if (!(cells >= 4 && cells ** 3 * 19 < 2 ** 31))
    throw new LaunchError(`a cavity of ${gib} GiB: it can have from 4 to 483 cells along each axis`);
  return cells;
}

export const application: Application = {
  name: "lbm",
  summary: "lattice Boltzmann, D3Q19, in a cube with a moving lid",

  onGrid: true,

  footprint: (options) => BYTES_PER_CELL * edge(sizeOf(options)) ** 3,

  async prepare(set, options) {
    const gib = sizeOf(options);
    const iterations = iterationsOf(options);
    const flow = cavity({ reynolds: REYNOLDS, size: edge(gib) - 2, lattice: D3Q19 });
    const simulation = await Simulation.create(set, flow, givenSettings(options));
    const work = simulation.work();

    const prepared: PreparedApplication = {
      problem: `lbm ${gib} GiB`,

      async run(): Promise<Sample[]> {
        const seconds = (await simulation.run(iterations)) / iterations;
        return [
          { quantity: ITERATION, seconds, ...work },
          { quantity: "stream and collide", seconds, ...work },
        ];
      },

      /** One step more, in some cells, against plain JavaScript; and the mass, which nothing may change. */
      async validate(): Promise<Verdict> {
        const cells = sampleCells(flow.extents);
        const expected = await stepCells(simulation, cells, ratesOf(flow.viscosity, simulation.settings.collision));
        const { mass } = await simulation.measure();
        await simulation.run(1);
        const { f } = simulation.populations;
        const errors = [Math.abs(mass / simulation.grid.cells)];
        for (const [n, cell] of cells.entries())
          for (const [q, value] of expected[n].entries()) errors.push(Math.abs((await f.get(cell, q)) - value));
        const maxError = Math.max(...errors);
        return { ok: maxError < TOLERANCE, maxError, against: "one step by plain JavaScript, and the first mass" };
      },

      report: () => gridReport(simulation),

      free: () => simulation.free(),
    };
    return prepared;
  },
};

/** The corners, the middles of the sides and the centre of the fluid. */
function sampleCells([nx, ny, nz]: readonly number[]): number[][] {
  const along = (n: number): number[] => [1, n >> 1, n - 2];
  return along(nx).flatMap((x) => along(ny).flatMap((y) => along(nz).map((z) => [x, y, z])));
}
