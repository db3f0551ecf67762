import { IsoformError } from "isoform";
import type { Case } from "./cases.js";
import { totalEnergy, type Measures } from "./diagnostics.js";
import type { Series } from "./fits.js";
import type { Simulation } from "./simulation.js";

/** One sample: the amplitude of the watched mode, and all measures. */
export interface Row extends Measures {
  readonly mode: number;
}

/** A mode along axis 1 (default: 1) of one component of E or B, whose amplitude is sampled. */
export type Watched = Case["watched"] & { readonly mode?: number };

/** How long `follow` runs, and how often it samples. */
export interface Schedule {
  /** The end, in simulated time. */
  readonly time: number;
  /** Steps from one sample to the next. */
  readonly every: number;
  /** Once it is aborted, the run ends at the next sample. */
  readonly stop?: AbortSignal;
}

/**
 * Runs until the end of the schedule, with a sample now and then; the first is that of the start.
 * @param rows samples so far, to which new ones are added: empty at the start
 * @param report is called after each sample, with the seconds that the steps before it took
 * @throws IsoformError where a sample finds particles that are lost or fields that are NaN
 */
export async function follow(
  simulation: Simulation,
  { form, component, mode = 1 }: Watched,
  { time, every, stop }: Schedule,
  rows: Row[],
  report: (row: Row, seconds: number) => void | Promise<void> = () => undefined,
): Promise<void> {
  const sample = async (seconds: number): Promise<void> => {
    await simulation.requireSound();
    const row = { ...(await simulation.measure()), mode: await simulation.mode(form, component, mode) };
    if (!Number.isFinite(totalEnergy(row)))
      throw new IsoformError(`pic: the fields are NaN after ${simulation.steps} steps: ask for a smaller --dt`);
    rows.push(row);
    await report(row, seconds);
  };
  const steps = Math.round(time / simulation.settings.dt);
  if (!Number.isSafeInteger(steps))
    throw new IsoformError(`pic: a run to time ${time} takes too many steps of ${simulation.settings.dt}: choose a shorter --time`);
  if (rows.length === 0) await sample(0);
  while (simulation.steps < steps && !stop?.aborted) {
    const start = performance.now();
    await simulation.run(Math.min(every, steps - simulation.steps));
    await sample((performance.now() - start) / 1e3);
  }
}

/** The amplitude of the watched mode over time: what `Case.judge` takes. */
export const seriesOfMode = (rows: readonly Row[]): Series => ({
  times: rows.map(({ time }) => time),
  values: rows.map(({ mode }) => mode),
});

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
