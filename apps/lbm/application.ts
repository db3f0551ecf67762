import { LaunchError } from "isoform";
import type { Application, PreparedApplication, ProblemOptions, Sample, Verdict } from "isoform/portability";
import { ITERATION } from "isoform/portability";
import { givenSettings, gridReport } from "../grids.js";
import { cavity } from "./cavity.js";
import { MOVING_WALL } from "./kinds.js";
import { D3Q19 } from "./lattice.js";
import { stepCells } from "./reference.js";
import { DEFAULTS, ratesOf, Simulation, type Flow } from "./simulation.js";

const sizeOf = ({ gib, quick }: ProblemOptions): number => gib ?? (quick ? 0.02 : 0.25);
const iterationsOf = ({ iterations, quick }: ProblemOptions): number => iterations ?? (quick ? 5 : 20);

/** Two populations of 19, velocity, density and kind. */
const BYTES_PER_CELL = 8 * (2 * 19 + 3 + 1) + 1;
const REYNOLDS = 100;
const TOLERANCE = 1e-12;
const STEP = "stream and collide";
const AGAINST = "one step by plain JavaScript, and the first mass";

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
    const flow = flowOf(gib);
    const simulation = await Simulation.create(set, flow, givenSettings(options));
    const work = simulation.work();

    const prepared: PreparedApplication = {
      problem: `lbm ${gib} GiB`,

      async run(iterations = iterationsOf(options)): Promise<Sample[]> {
        const seconds = (await simulation.run(iterations)) / iterations;
        return [
          { quantity: ITERATION, seconds, ...work },
          { quantity: STEP, seconds, ...work },
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
        return { ok: maxError < TOLERANCE, maxError, against: AGAINST };
      },

      report: () => gridReport(simulation),

      free: () => simulation.free(),
    };
    return prepared;
  },

  byHand(options) {
    const gib = sizeOf(options);
    const flow = flowOf(gib);
    const [n] = flow.extents;
    const rates = ratesOf(flow.viscosity, DEFAULTS.collision);
    return {
      program: "lbm",
      problem: `lbm ${gib} GiB`,
      iterations: iterationsOf(options),
      sizes: [n],
      inputs: [atRest(flow), Float64Array.from(rates)],
      outputs: [19 * n ** 3, 19 * n ** 3],
      quantities: [ITERATION, STEP],

      /** The last step, in some cells, against plain JavaScript; and the mass, which nothing may change. */
      async validate([before, after]) {
        const at = ([x, y, z]: readonly number[], q: number) => ((q * n + z) * n + y) * n + x;
        const cells = sampleCells(flow.extents);
        const populations = { f: { get: (cell: readonly number[], q: number) => before[at(cell, q)] } };
        const expected = await stepCells({ flow, settings: DEFAULTS, populations }, cells, rates);
        let mass = 0;
        for (let q = 0; q < 19; q++)
          for (let z = 1; z < n - 1; z++) for (let y = 1; y < n - 1; y++) for (let x = 1; x < n - 1; x++) mass += after[at([x, y, z], q)];
        const errors = [Math.abs(mass / n ** 3)];
        for (const [k, cell] of cells.entries())
          for (const [q, value] of expected[k].entries()) errors.push(Math.abs(after[at(cell, q)] - value));
        const maxError = Math.max(...errors);
        return { ok: maxError < TOLERANCE, maxError, against: AGAINST };
      },
    };
  },
};

const flowOf = (gib: number): Flow => cavity({ reynolds: REYNOLDS, size: edge(gib) - 2, lattice: D3Q19 });

/** The first populations of a fluid at rest, as deviations from its own, [q][z][y][x]; walls hold what they add: 6 w_q (e_q . u). */
function atRest({ lattice: { directions, weights }, extents: [n], kind, velocity }: Flow): Float64Array {
  const f = new Float64Array(weights.length * n ** 3);
  for (let z = 0; z < n; z++)
    for (let y = 0; y < n; y++)
      for (let x = 0; x < n; x++) {
        if (kind(x, y, z) !== MOVING_WALL) continue;
        const [u] = velocity(x, y, z);
        for (const [q, [ex]] of directions.entries()) f[((q * n + z) * n + y) * n + x] = 6 * weights[q] * ex * u;
      }
  return f;
}

/** The corners, the middles of the sides and the centre of the fluid. */
function sampleCells([nx, ny, nz]: readonly number[]): number[][] {
  const along = (n: number): number[] => [1, n >> 1, n - 2];
  return along(nx).flatMap((x) => along(ny).flatMap((y) => along(nz).map((z) => [x, y, z])));
}
