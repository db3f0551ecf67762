import type { DeviceSet } from "isoform/set";
import { onAnyRank } from "isoform/set";
import type { HostArrays, Place, SavedRun } from "./checkpoint.js";
import { restore, restoreResults, writeCheckpoint } from "./checkpoint.js";
import type { Pause, Solution, SolveOptions } from "./lsqr.js";
import type { Probes } from "./probes.js";
import { probeErrors, requireProbes } from "./probes.js";
import type { RobustSolution } from "./robust.js";
import { solveRobustly, VARIANCE_RATIO, weighted } from "./robust.js";
import { scanningRows } from "./scanning/index.js";
import type { Convergence } from "./section-steps.js";
import { sections } from "./shape.js";
import type { RowSource } from "./source.js";
import type { ScanningSystemOptions, SimulatedOptions, SolverOptions } from "./solver.js";
import { Solver } from "./solver.js";

/*
 * A run with all its loops: turns of weights, the iteration, probes. It can be saved between any two iterations, and gone on with.
 */

/** Seconds from one checkpoint to the next, where no number of iterations is given. */
const INTERVAL = 600;
/** Iterations after which several processes ask each other whether to save. */
const TOGETHER = 16;

/** How a run is saved. */
interface Saving {
  /** Without a file nothing is saved, and an interrupt ends the run. */
  readonly file?: string;
  /** Iterations from one checkpoint to the next; default: ten minutes. */
  readonly every?: number;
  /** Aborted by a signal. */
  readonly stop: AbortSignal;
  /** Options that a checkpoint tells, and digests of the files that they name. */
  readonly options: Place["options"];
  readonly files: Place["files"];
}

/** Request for a run. */
interface Asked {
  readonly system: SimulatedOptions | ScanningSystemOptions;
  /** Rows that take the place of the system's, which cannot be weighed. */
  rows?(set: DeviceSet): RowSource;
  readonly solver: SolverOptions;
  readonly stopping: SolveOptions & { readonly compatibleErrors?: boolean; readonly convergence?: Convergence };
  readonly robust: boolean;
  /** Number of probes. */
  readonly probes?: number;
  readonly resume?: SavedRun;
  onProbe?(done: number): void;
}

/** Result of a run. */
export interface Done {
  readonly solver: Solver;
  readonly solution: Solution;
  readonly robust?: Pick<RobustSolution, "turns" | "settled">;
  readonly probes?: Probes;
  /** Whether a signal has ended it, after how many iterations of the solution in work. */
  readonly interrupted?: number;
}

/** Solves what is asked for, from the begin or a checkpoint on, and saves it meanwhile. All processes of the set call it. */
export async function runSession(set: DeviceSet, asked: Asked, saving: Saving): Promise<Done> {
  const session = new Session(set, asked, saving);
  return session.run();
}

class Session {
  private place: Place;
  private readonly arrays: HostArrays = { draws: [] };
  private solver!: Solver;
  private lastSaved = performance.now();
  private resume?: SavedRun;

  constructor(
    private readonly set: DeviceSet,
    private readonly asked: Asked,
    private readonly saving: Saving,
  ) {
    this.resume = asked.resume;
    this.place = {
      iterations: 0,
      turns: [],
      settled: false,
      probes: 0,
      sides: 1,
      ...asked.resume?.place,
      options: saving.options,
      files: saving.files,
    };
  }

  async run(): Promise<Done> {
    const { asked } = this;
    if (this.place.solution) await this.rebuild();
    else if (asked.robust) await this.solveRobustly();
    else {
      this.solver = await this.plain();
      const solution = await this.solver.solve({ ...asked.stopping, from: await this.begin(), pause: this.pause });
      if (solution.istop < 0) return this.interrupted(solution);
      this.place.solution = solution;
    }
    const { solution, turns, settled } = this.place;
    if (!solution || solution.istop < 0) return this.interrupted(solution);
    const done = { solver: this.solver, solution, robust: asked.robust ? { turns, settled } : undefined };
    if (asked.probes === undefined) return done;
    const probes = await this.probe(asked.probes);
    return probes ? { ...done, probes } : this.interrupted(solution);
  }

  private interrupted(solution: Solution | undefined): Done {
    return { solver: this.solver, solution: solution!, interrupted: this.place.iterations };
  }

  /** Solver of the system without weights. */
  private plain(): Promise<Solver> {
    const { rows, system, solver } = this.asked;
    return rows ? Solver.of(this.set, rows(this.set), solver) : Solver.create(this.set, { ...system, ...solver });
  }

  private async source() {
    const { system, solver } = this.asked;
    return scanningRows(this.set, system as ScanningSystemOptions, solver.seed ?? 0);
  }

  private async solveRobustly(): Promise<void> {
    const source = await this.source();
    const { turns } = this.place;
    const weights = new Float64Array(source.shape.observations).fill(1);
    this.arrays.weights = weights;
    // Weights decide the system, so they are read before it is made.
    if (this.resume) await this.restoreWeights(weights);
    const robust = await solveRobustly(
      this.set,
      source,
      this.asked.solver,
      { ...this.asked.stopping, pause: this.pause },
      {
        resume: { weights, turns },
        begin: (at) => {
          this.solver = at.solver;
          this.arrays.weights = at.weights;
          this.place.turns = [...at.turns];
          return this.begin();
        },
      },
    );
    this.solver = robust.solver;
    this.arrays.weights = robust.weights;
    this.place = { ...this.place, turns: [...robust.turns], settled: robust.settled, solution: robust.solution };
  }

  private async restoreWeights(weights: Float64Array): Promise<void> {
    const stored = await this.resume!.file.array("weights");
    weights.set(stored);
  }

  /** Makes the system of a run whose solution is known, for the probes that are left. */
  private async rebuild(): Promise<void> {
    const { solver, robust } = this.asked;
    if (robust) {
      const source = await this.source();
      const weights = new Float64Array(source.shape.observations);
      await this.restoreWeights(weights);
      this.arrays.weights = weights;
      this.solver = await Solver.of(this.set, weighted(source, weights), solver);
    } else this.solver = await this.plain();
    const { unknowns } = sections(this.solver.shape);
    this.arrays.found = { x: new Float64Array(unknowns), errors: new Float64Array(unknowns) };
    for (let n = 0; n < this.place.probes; n++) this.arrays.draws.push(new Float64Array(unknowns));
  }

  /** Solves for the probes that are left; undefined where a signal has ended them. */
  private async probe(count: number): Promise<Probes | undefined> {
    const { solver, arrays, place, asked } = this;
    requireProbes(count, solver.scanning?.frameIsFixed ?? true);
    let from = this.resume ? await this.beginProbes(this.resume, count) : undefined;
    arrays.found ??= { x: await solver.solution(), errors: await solver.standardErrors() };
    while (arrays.draws.length < count) {
      place.probes = arrays.draws.length;
      place.sides = solver.sidesFrom(place.probes, count);
      const { draws } = await solver.probesFrom(place.probes, count, {
        ...asked.stopping,
        onIteration: undefined,
        timed: false,
        from,
        pause: this.pause,
      });
      if (draws.length === 0) return undefined;
      const scale = asked.robust ? Math.sqrt(VARIANCE_RATIO) : 1;
      arrays.draws.push(...draws.map((draw) => draw.map((error) => scale * error)));
      from = undefined;
      asked.onProbe?.(arrays.draws.length);
    }
    solver.put(arrays.found.x, arrays.found.errors);
    return probeErrors(arrays.draws);
  }

  /** Goes on in the probes; those in work begin anew where they were solved for with another number of sides. */
  private async beginProbes(resume: SavedRun, count: number): Promise<number | undefined> {
    const { place, solver, arrays } = this;
    if (place.sides === solver.sidesFrom(place.probes, count)) return this.begin();
    this.resume = undefined;
    await restoreResults(resume, solver, arrays);
    return undefined;
  }

  /** Brings the first solver of a run that is gone on with to where it was; returns its iterations. */
  private async begin(): Promise<number | undefined> {
    const { resume } = this;
    if (!resume) return undefined;
    this.resume = undefined;
    this.solver.refinementPlace = this.place.refinement;
    await restore(resume, this.solver, this.arrays);
    return this.place.iterations;
  }

  private readonly pause: Pause = {
    isDue: (iteration) => this.isDue(iteration),
    save: async (iteration) => {
      this.place.iterations = iteration;
      this.place.refinement = this.solver.refinementPlace;
      const { file, stop } = this.saving;
      const { set } = this;
      if (file !== undefined) await writeCheckpoint(file, this.solver, this.arrays, this.place);
      this.lastSaved = performance.now();
      return !(await onAnyRank(set, stop.aborted, "a signal"));
    },
  };

  private isDue(iteration: number): boolean | Promise<boolean> {
    const { file, every, stop } = this.saving;
    const byCount = file !== undefined && every !== undefined && iteration % every === 0;
    const byClock = file !== undefined && every === undefined && performance.now() - this.lastSaved > 1000 * INTERVAL;
    if (!this.set.ranks) return byCount || byClock || stop.aborted;
    if (byCount || iteration % TOGETHER > 0) return byCount;
    return onAnyRank(this.set, byClock || stop.aborted, "whether to save");
  }
}
