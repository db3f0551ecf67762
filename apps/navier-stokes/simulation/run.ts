import { IsoformError } from "isoform";
import { onAnyRank } from "isoform/set";
import type { Progress } from "./progress-line.js";
import type { Simulation } from "./simulation.js";

/** Density or temperature have fallen to 0 or below, or are NaN. */
export class FlowError extends IsoformError {
  override name = "FlowError";
}

/** Length of a run of `follow`, and distance of its samples. */
export interface Course {
  /** The last step. */
  readonly steps: number;
  /** Simulated time at which the run ends, if that comes before its last step. */
  readonly time?: number;
  /** Steps from one sample to the next. */
  readonly every: number;
  /** Once it is aborted, the run ends at the next sample. */
  readonly stop?: AbortSignal;
}

/**
 * Runs to the end of the course, with a sample now and then.
 * @param sample is called after each sample, with the seconds that the steps before it took
 * @throws FlowError with the cell and the step where density or temperature are not above 0
 */
export async function follow(
  simulation: Simulation,
  { steps, time = Infinity, every, stop }: Course,
  sample: (progress: Progress, seconds: number) => void | Promise<void>,
): Promise<void> {
  const { set } = simulation.grid;
  let now = await simulation.time.get();
  while (simulation.steps < steps && now < time && !(stop && (await onAnyRank(set, stop.aborted, "a signal")))) {
    const dt = await simulation.dt.get();
    const left = Math.min(steps - simulation.steps, Math.max(1, Math.ceil((time - now) / dt - 1e-9)));
    const seconds = await simulation.run(Math.min(every, left));
    const progress = await simulation.progress();
    await requireFlow(simulation, progress);
    now = progress.time;
    await sample(progress, seconds);
  }
}

/** Throws FlowError if density or temperature are not above 0. */
export async function requireFlow(simulation: Simulation, { step, density, temperature }: Progress): Promise<void> {
  const wasSound = [...density, ...temperature].every((value) => Number.isFinite(value) && value > 0);
  if ((await simulation.brokenCells()) > 0) {
    const { at, what } = await firstBroken(simulation);
    throw new FlowError(
      `navier-stokes: the flow ${what} in cell (${at.join(", ")}) after step ${step}: choose a smaller cfl, more cells, or a lower sensor_threshold, which takes WENO at more faces`,
    );
  }
  // The progress of a step describes the flow before its last stage.
  if (!wasSound)
    throw new FlowError(`navier-stokes: density or temperature were not above 0 before step ${step}: choose a smaller cfl, or more cells`);
}

/** The first broken cell of a flow that has some. */
async function firstBroken({ fields, grid, flow }: Simulation): Promise<{ at: readonly number[]; what: string }> {
  const w = await fields.w.download();
  const T = flow.gas.heat && (await fields.T.download());
  const [nx, ny] = grid.extents;
  const warmth = (n: number): number =>
    T ? T[n] : w[5 * n + 4] - (w[5 * n + 1] ** 2 + w[5 * n + 2] ** 2 + w[5 * n + 3] ** 2) / (2 * w[5 * n]);
  let n = 0;
  while (w[5 * n] > 0 && warmth(n) > 0) n++;
  const rho = w[5 * n];
  const what = Number.isNaN(rho + warmth(n)) ? "is NaN" : rho > 0 ? "has a negative pressure" : "has a negative density";
  return { at: [n % nx, Math.floor(n / nx) % ny, Math.floor(n / nx / ny)], what };
}
