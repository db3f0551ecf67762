import type { Application, PreparedApplication, ProblemOptions, Sample, Verdict } from "isoform/portability";
import { ITERATION } from "isoform/portability";
import { constraintRows } from "./constraints.js";
import { parallelRows } from "./generate.js";
import type { Solution } from "./lsqr.js";
import { paperKernels } from "./paper.js";
import { firstShare } from "./division.js";
import { constraintResiduals, observationResiduals } from "./reference.js";
import type { Shape } from "./shape.js";
import { instrumentLayout, sections, starRows } from "./shape.js";
import { simulatedRows } from "./simulated.js";
import { fastestFormOn, FORMS, GENERAL_FORMS, Solver, shapeOf, type FormName } from "./solver.js";
import type { RowSource } from "./source.js";
import { footprint } from "./system.js";
import { trafficOf } from "./traffic.js";

const sizeOf = ({ gib, quick }: ProblemOptions): number => gib ?? (quick ? 0.02 : 0.25);
const iterationsOf = ({ iterations, quick }: ProblemOptions): number => iterations ?? (quick ? 5 : 20);

/** `paper` has the published program's kernels. */
const formOf = ({ form = "paper" }: ProblemOptions) => form as FormName;
function rowsOf(options: ProblemOptions): RowSource {
  const rows = simulatedRows(shapeWith(options), "parallel", SEED);
  return options.memberOf === undefined ? rows : firstShare(rows, options.memberOf);
}
const shapeWith = (options: ProblemOptions): Shape => shapeOf({ gib: sizeOf(options), globals: options.globals });
const problemOf = (options: ProblemOptions): string => `gsr ${sizeOf(options)} GiB${options.globals ? ", global section" : ""}`;

const SEED = 0;
const TOLERANCE = 1e-10;
const AGAINST = "residual b - A x by plain JavaScript, relative to b";
/** Windows of rows that are made again on the host. */
const WINDOWS = 8;
const WINDOW_ROWS = 4096;

export const application: Application = {
  name: "gsr",
  summary: "LSQR on the simulated system of the Gaia mission's AVU-GSR pipeline",

  division: {
    counted: "rows",
    extents: (options) => [shapeWith(options).observations],
    exchange: (options, members) => trafficOf(shapeWith(options), members),
    requireMembers: (options, members) => void firstShare(rowsOf(options), members),
  },

  hasGlobals: true,

  forms: { names: GENERAL_FORMS, alone: ["paper"], fastest: (set, options) => fastestFormOn(set, rowsOf(options)) },

  footprint(options) {
    const rows = rowsOf(options);
    return footprint(rows) + FORMS[formOf(options)].footprint(rows.shape);
  },

  async prepare(set, options, progress) {
    const solver = await Solver.of(set, rowsOf(options), { precision: options.precision, form: formOf(options) }, progress);
    const isPaper = solver.form === "paper";
    const isAlone = set.members.length === 1;
    const names = isPaper ? paperKernels(solver.shape) : [...new Set(solver.steps.map(({ name }) => name))];
    const costs = costsByName(solver.steps);
    const bytes = solver.steps.reduce((total, { launch }) => total + launch.cost.bytes, 0);
    const flops = solver.steps.reduce((total, { launch }) => total + launch.cost.flops, 0);
    let last: Solution | undefined;

    const prepared: PreparedApplication = {
      problem: problemOf(options),
      form: solver.form,
      get launches() {
        return solver.steps;
      },

      async run(iterations = iterationsOf(options)) {
        last = await solver.solve({ iterations, timed: isAlone });
        const { secondsPerIteration, steps } = last;
        // Kernels of several members go on side by side.
        if (!isAlone) return [{ quantity: ITERATION, seconds: secondsPerIteration, bytes, flops }];
        // Kernels of different forms do not compare.
        const kernels = names.map((name): Sample => ({
          quantity: isPaper ? name : `${solver.form} ${name}`,
          seconds: steps[name],
          ...costs.get(name),
        }));
        return [{ quantity: ITERATION, seconds: secondsPerIteration, bytes, flops }, ...kernels];
      },

      /** LSQR's running estimate of |b - A x| against the true one, and that one's rows against plain JavaScript. */
      async validate(): Promise<Verdict> {
        if (!last) throw new Error("validate() needs a run: call run() before it");
        const { shape } = solver;
        const knownTerms = await solver.knownTerms();
        const x = await solver.solution();
        const windows = sampleRows(shape.observations);
        const constraints = [shape.observations, knownTerms.length] as const;
        const residual = await solver.residual([...windows, constraints]);
        const expected = [
          ...windows.map(([from, to]) => observationResiduals(shape, parallelRows(shape, SEED, from, to), x)),
          constraintResiduals(shape, x),
        ];
        const errors = [Math.abs(last.rnorm - residual.norm) / last.bnorm];
        for (const [w, window] of [...windows, constraints].entries()) {
          const known = knownTerms.slice(...window);
          errors.push(distance(residual.rows[w], expected[w]) / distance(known, new Float64Array(known.length)));
        }
        const maxError = Math.max(...errors);
        return { ok: maxError < TOLERANCE, maxError, against: AGAINST };
      },

      free: () => solver.free(),
    };
    return prepared;
  },

  byHand(options) {
    const shape = shapeWith(options);
    const rows = parallelRows(shape, SEED);
    const { rowStart, columns, values } = constraintRows(shape);
    const { stars, observations, knots, globals } = shape;
    const counts = [stars, observations, knots, instrumentLayout(shape).size, rowStart.length - 1, columns.length, globals];
    const coefficients = [rows.astrometric, rows.attitude, rows.instrument];
    const places = [rows.knot, rows.column, starRows(shape), rowStart, columns];
    return {
      program: "gsr",
      problem: problemOf(options),
      iterations: iterationsOf(options),
      sizes: counts,
      inputs: [...coefficients, ...places.map((array) => new Float64Array(array)), values, ...(rows.global ? [rows.global] : [])],
      outputs: [sections(shape).unknowns, 2],
      quantities: [ITERATION, ...paperKernels(shape)],
      /** Compares the norm of the residual that LSQR carries along with the norm of its solution's residual. */
      validate([x, [rnorm, bnorm]]) {
        const residuals = [observationResiduals(shape, rows, x), constraintResiduals(shape, x)];
        const norm = Math.hypot(...residuals.map((part) => Math.sqrt(part.reduce((sum, value) => sum + value * value, 0))));
        const maxError = Math.abs(rnorm - norm) / bnorm;
        return { ok: maxError < TOLERANCE, maxError, against: AGAINST };
      },
    };
  },
};

/** Work of the launches of an iteration, added up by name. */
function costsByName(steps: Solver["steps"]): Map<string, { bytes: number; flops: number }> {
  const costs = new Map<string, { bytes: number; flops: number }>();
  for (const { name, launch } of steps) {
    const { bytes, flops } = costs.get(name) ?? { bytes: 0, flops: 0 };
    costs.set(name, { bytes: bytes + launch.cost.bytes, flops: flops + launch.cost.flops });
  }
  return costs;
}

/** Windows spread evenly over the rows. */
function sampleRows(rows: number): (readonly [first: number, end: number])[] {
  const length = Math.min(WINDOW_ROWS, Math.floor(rows / WINDOWS));
  return Array.from({ length: WINDOWS }, (_, w) => {
    const first = Math.floor((w * (rows - length)) / (WINDOWS - 1));
    return [first, first + length] as const;
  });
}

/** The largest difference. */
function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i] - b[i]));
  return most;
}
