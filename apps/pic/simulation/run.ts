import { IsoformError } from "isoform";
import type { Case } from "./cases.js";
import { totalEnergy, type Measures } from "./diagnostics.js";
import type { Series } from "../judgement/fits.js";
import type { Simulation } from "./simulation.js";

/** One sample: the amplitude of the watched mode, and all measures. */
export interface Row extends Measures {
  readonly mode: number;
  /** Root mean square of the amplitudes of other modes, beyond the first harmonic; absent where the mesh has none. */
  readonly noise?: number;
}

/** Modes that `Row.noise` is told from. */
const NOISY = 4;
/**
 * The noise of the watched mode, relative to the noise of these: it is longer. From the misses of nine runs of Landau damping, whose mean
 * square then is their error bars'.
 */
const LONGER = 1.6;

/** A mode along axis 1 (default: 1) of one component of E or B, whose amplitude is sampled. */
export type Watched = Case["watched"] & { readonly mode?: number };

/** Length of a run of `follow`, and distance of its samples. */
export interface Schedule {
  /** The end, in simulated time. */
  readonly time: number;
  /** Steps from one sample to the next. */
  readonly every: number;
  /** Once it is aborted, the run ends at the next sample. */
  readonly stop?: AbortSignal;
}

/**
 * Runs until the end of the schedule, with a sample now and then; the first one is taken at the start.
 * @param rows samples so far, to which new ones are added: empty at the start
 * @param report is called after each sample, with the seconds that the steps before it took
 * @throws IsoformError if a sample finds particles that are lost or fields that are NaN
 */
export async function follow(
  simulation: Simulation,
  { form, component, mode = 1 }: Watched,
  { time, every, stop }: Schedule,
  rows: Row[],
  report: (row: Row, seconds: number) => void | Promise<void> = () => undefined,
): Promise<void> {
  const noisy = Array.from({ length: NOISY }, (_, n) => 2 * mode + 1 + n).filter(
    (other) => 2 * other <= simulation.problem.mesh.axes[0].cells,
  );
  const sample = async (seconds: number): Promise<void> => {
    await simulation.requireSound();
    const measures = await simulation.measure();
    const [amplitude, ...others] = await simulation.modes(form, component, [mode, ...noisy]);
    const noise = Math.sqrt(others.reduce((sum, other) => sum + other * other, 0) / others.length);
    const row = { ...measures, mode: amplitude, ...(others.length > 0 && { noise }) };
    if (!Number.isFinite(totalEnergy(row)))
      throw new IsoformError(`pic: the fields are NaN after ${simulation.steps} steps: ask for a smaller --dt`);
    rows.push(row);
    await report(row, seconds);
  };
  const steps = Math.round(time / simulation.settings.dt);
  if (!Number.isSafeInteger(steps))
    throw new IsoformError(`pic: a run to time ${time} takes too many steps of ${simulation.settings.dt}: choose a shorter --time`);
  if (rows.length === 0) await sample(0);
  while (simulation.steps < steps && !(await simulation.stops(stop?.aborted ?? false))) {
    const start = performance.now();
    await simulation.run(Math.min(every, steps - simulation.steps));
    const seconds = (performance.now() - start) / 1e3;
    await sample(seconds);
  }
}

/** The amplitude of the watched mode over time, with its noise as other modes tell it where all samples have that: what `Case.judge` takes. */
export function seriesOfMode(rows: readonly Row[]): Series {
  const noise = rows.flatMap((row) => (row.noise === undefined ? [] : LONGER * row.noise));
  return { times: rows.map(({ time }) => time), values: rows.map(({ mode }) => mode), ...(noise.length === rows.length && { noise }) };
}

/** The largest relative change of the total energy since the first sample. */
export function energyError(rows: readonly Row[]): number {
  const start = totalEnergy(rows[0]);
  return rows.reduce((most, row) => Math.max(most, Math.abs(totalEnergy(row) / start - 1)), 0);
}

export const worst = (rows: readonly Row[], name: "gauss" | "divergence"): number =>
  rows.reduce((most, row) => Math.max(most, row[name]), 0);

/** A line a sample, with a head. */
export function csvText(rows: readonly Row[], species: readonly string[]): string {
  const head = ["time", "mode"];
  rows[0].electric.forEach((_, k) => head.push(`energy E${k + 1}`));
  const firstMagnetic = 4 - rows[0].magnetic.length;
  rows[0].magnetic.forEach((_, k) => head.push(`energy B${k + firstMagnetic}`));
  species.forEach((name) => head.push(`energy ${name}`));
  head.push("energy", "momentum 1", "momentum 2", "momentum 3", "gauss", "divergence");
  const lines = rows.map((row) =>
    [
      row.time,
      row.mode,
      ...row.electric,
      ...row.magnetic,
      ...row.kinetic,
      totalEnergy(row),
      ...row.momentum,
      row.gauss,
      row.divergence,
    ].join(),
  );
  return `${[head.join(), ...lines].join("\n")}\n`;
}
