import { IsoformError } from "isoform";
import type { Progress } from "./progress-line.js";
import type { Simulation } from "./simulation.js";

/** Density or temperature are no longer above 0. */
export class FlowError extends IsoformError {
  override name = "FlowError";
}

/** How a run goes on, and what it is told on its way. */
export interface Course {
  /** The last step. */
  readonly steps: number;
  /** Ends the run before its last step. */
  readonly time?: number;
  /** Steps from one sample to the next. */
  readonly every: number;
  readonly stop?: AbortSignal;
}

/** Goes on to the end, or until it is stopped after some sample. Throws FlowError where the flow is no longer one, with cell and step. */
export async function follow(
  simulation: Simulation,
  { steps, time = Infinity, every, stop }: Course,
  sample: (progress: Progress, seconds: number) => void | Promise<void>,
): Promise<void> {
  let now = await simulation.time.get();
  while (simulation.steps < steps && now < time && !stop?.aborted) {
    const dt = await simulation.dt.get();
    const left = Math.min(steps - simulation.steps, Math.max(1, Math.ceil((time - now) / dt - 1e-9)));
    const seconds = await simulation.run(Math.min(every, left));
    const progress = await simulation.progress();
    await requireFlow(simulation, progress);
    now = progress.time;
    await sample(progress, seconds);
  }
}

/** Throws FlowError where density or temperature are not above 0. */
export async function requireFlow(simulation: Simulation, { step, density, temperature, residual }: Progress): Promise<void> {
  // Density and temperature are those before the last stage, which the residual is of.
  const isSound = Number.isFinite(residual) && [...density, ...temperature].every((value) => Number.isFinite(value) && value > 0);
  if (isSound) return;
  const w = await simulation.fields.w.download();
  const [nx, ny] = simulation.grid.extents;
  for (let n = 0; n < w.length / 5; n++) {
    const [rho, ru, rv, rw, E] = w.subarray(5 * n, 5 * n + 5);
    const inner = E - (ru ** 2 + rv ** 2 + rw ** 2) / (2 * rho);
    if (rho > 0 && inner > 0 && Number.isFinite(inner)) continue;
    const what = Number.isNaN(rho + inner) ? "is NaN" : rho > 0 ? "has a negative pressure" : "has a negative density";
    const at = [n % nx, Math.floor(n / nx) % ny, Math.floor(n / nx / ny)].join(", ");
    throw new FlowError(
      `navier-stokes: the flow ${what} in cell (${at}) after step ${step}: choose a smaller cfl, more cells, or a lower sensor_threshold, which takes WENO at more faces`,
    );
  }
  throw new FlowError(`navier-stokes: density or temperature were not above 0 before step ${step}: choose a smaller cfl, or more cells`);
}
