import type { ProblemOptions } from "../application.js";

/** The command by which `isoform assess --counters` counts, under ncu. */
export const COUNTERS_COMMAND = "assess-counters";

/** Work to count the launches of: one run of an application with one iteration. */
export interface CountersTask {
  readonly application: string;
  /** As given to `--devices`. */
  readonly devices: string;
  readonly problem: ProblemOptions;
}

/** Launches of a kernel in the counted run, with their work by the counting rule. */
export interface LaunchedKernel {
  readonly kernel: string;
  readonly launches: number;
  readonly bytes: number;
  readonly flops: number;
}

/** Result of a task: what ran while ncu counted. */
export interface CountersPart {
  readonly problem: string;
  readonly kernels: readonly LaunchedKernel[];
}
