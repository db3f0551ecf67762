import { ITERATION } from "./application.js";
import { groupBy } from "./group.js";
import { type Estimate, estimate, mean, ratio } from "./statistics.js";

/** Which figures of merit are better: `lower` (times), or `higher` (rates). */
export const DIRECTIONS = ["lower", "higher"] as const;
/** One of these. */
export type Direction = (typeof DIRECTIONS)[number];

/** Names of one measurement. */
interface RunNames {
  /** The code path: `isoform-wasm`, `handwritten-openmp`. */
  application: string;
  /** The hardware. */
  platform: string;
  problem: string;
  run: number;
  /** `iteration`, or a kernel's name. */
  quantity: string;
}

/** One measured time. */
export interface TimedRun extends RunNames {
  seconds: number;
  bytes?: number;
  flops?: number;
}

/** One figure of merit that is not a time in seconds, in any unit. */
export interface ScoredRun extends RunNames {
  fom: number;
  better: Direction;
}

/** One measurement: a row of a timings file and of an assessment's `runs`. */
export type Run = TimedRun | ScoredRun;

/** All runs of one quantity that is a time. */
export interface TimedCell extends Omit<TimedRun, "run" | "seconds"> {
  seconds: Estimate;
  runs: number;
}

/** All runs of one quantity that is a figure of merit. */
export interface ScoredCell extends Omit<ScoredRun, "run" | "fom"> {
  fom: Estimate;
  runs: number;
}

/** All runs of one quantity. */
export type Cell = TimedCell | ScoredCell;

/** Gathers runs into cells, in order of first appearance. Runs of a cell are all times, or all figures of merit. */
export function cellsOf(runs: readonly Run[]): Cell[] {
  const groups = groupBy(runs, (r) => JSON.stringify([r.application, r.platform, r.problem, r.quantity]));
  return [...groups.values()].map((group): Cell => {
    const { application, platform, problem, quantity } = group[0];
    const names = { application, platform, problem, quantity, runs: group.length };
    const timed = group.filter(isTimed);
    if (timed.length > 0)
      return { ...names, seconds: estimate(timed.map((r) => r.seconds)), bytes: meanOf(timed, "bytes"), flops: meanOf(timed, "flops") };
    const scored = group.filter((run) => "fom" in run);
    return { ...names, fom: estimate(scored.map((r) => r.fom)), better: scored[0].better };
  });
}

function meanOf(group: readonly TimedRun[], key: "bytes" | "flops"): number | undefined {
  const values = group.map((r) => r[key]).filter((v) => v !== undefined);
  return values.length ? mean(values) : undefined;
}

/** Whether a measurement is a time. */
export const isTimed = <T extends object>(one: T): one is Extract<T, { seconds: unknown }> => "seconds" in one;

/** Cells of iterations, by which applications are compared. */
export const isIteration = ({ quantity }: { readonly quantity: string }): boolean => quantity === ITERATION;

/** Which values of a measurement are better. */
export const betterOf = (one: Cell | Run): Direction => (isTimed(one) ? "lower" : one.better);

/** Mean over a cell's runs, in seconds or in the unit of the figure of merit. */
export const measuredOf = (cell: Cell): Estimate => (isTimed(cell) ? cell.seconds : cell.fom);

/** Performance of a cell relative to another one of its problem: 0.5 if it takes twice the time, or has half of a rate. */
export function relativeTo(other: Cell, own: Cell): Estimate {
  const [a, b] = [measuredOf(own), measuredOf(other)];
  return betterOf(own) === "higher" ? ratio(a, b) : ratio(b, a);
}

/** The best of some cells of one problem; the first of equals. */
export function bestOf(cells: readonly Cell[]): Cell {
  const sign = betterOf(cells[0]) === "higher" ? -1 : 1;
  return cells.reduce((a, b) => (sign * (measuredOf(b).value - measuredOf(a).value) < 0 ? b : a));
}
