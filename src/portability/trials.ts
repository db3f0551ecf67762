import type { Precision } from "../device/device.js";
import { DEFAULT_SETTINGS } from "../skeleton/settings.js";
import { DeviceError, EmitError, IsoformError } from "../ir/errors.js";
import type { Application, PreparedApplication, ProblemOptions, ProgressFactory } from "./application.js";
import type { Evidence } from "./assessment.js";
import type { Run } from "./metric.js";
import type { Missing, Setting, Validation } from "./schema.js";
import { Stopped, unlessStopped } from "./stop.js";
import type { Target } from "./target.js";

/** Enough for a mean and its error, of a quick look or where time is short. */
export const FEWEST_REPEATS = 3;

export interface Limits {
  readonly repeats: number;
  readonly seconds: number;
  /** Ends the runs: those that are finished by then count. */
  readonly stop?: AbortSignal;
}

type RunKey = Pick<Run, "application" | "platform" | "problem">;

/** One application on one set of devices, with what its runs gave. */
class Trial {
  private readonly runs: Run[] = [];
  private readonly verdicts = new Map<string, Validation>();

  constructor(
    private readonly target: Target,
    private readonly prepared: PreparedApplication,
    private readonly application: string,
    private readonly precision: Precision,
  ) {}

  /** Runs and validates; run 0 warms up, and a wrong one is reported but does not count. */
  async run(run: number): Promise<void> {
    const { key } = this;
    const samples = await this.prepared.run();
    const { ok, maxError, against } = await this.prepared.validate();
    const before = this.verdicts.get(against);
    this.verdicts.set(against, {
      ...key,
      against,
      ok: ok && (before?.ok ?? true),
      maxError: Math.max(maxError, before?.maxError ?? 0),
    });
    if (run > 0 && ok) this.runs.push(...samples.map((sample) => ({ ...key, run, ...sample })));
  }

  /** Something was found right or wrong. */
  get judged(): boolean {
    return this.verdicts.size > 0;
  }

  /** There is a run that counts. */
  get ran(): boolean {
    return this.runs.length > 0;
  }

  /** In words, where no run was right. */
  wrong(): IsoformError | undefined {
    const verdict = [...this.verdicts.values()].find(({ ok }) => !ok);
    if (this.ran || !verdict) return undefined;
    return new IsoformError(`wrong results: ${verdict.maxError?.toExponential(1)} from the ${verdict.against}`);
  }

  evidence(): Evidence {
    const { grid, layout, occ, choices } = this.prepared.report?.() ?? {};
    const setting = { ...this.key, devices: this.target.name, precision: this.precision, grid, layout, occ, choices } as Setting;
    return { host: [], devices: [], runs: this.runs, validation: [...this.verdicts.values()], settings: [setting] };
  }

  private get key(): RunKey {
    return { application: this.application, platform: this.target.platform, problem: this.prepared.problem };
  }

  free(): void {
    this.prepared.free();
  }
}

/** A device that has not run an application to its end. */
export interface Refusal {
  readonly codePath: string;
  readonly target: Target;
  readonly error: unknown;
  /** It was meant to: what a device or a target language cannot do is no failure. */
  readonly failed: boolean;
}

export const missingOf = ({ codePath, target, error, failed }: Refusal, problem: string): Missing => ({
  application: codePath,
  platform: target.platform,
  problem,
  devices: target.name,
  reason: reasonOf(error),
  ...(failed && { failed }),
});

/** In words. What is no error for users may come without any that say what it is. */
export function reasonOf(error: unknown): string {
  if (error instanceof Stopped) return "the assessment was ended before";
  if (error instanceof IsoformError) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Runs one application on targets whose data are in memory at once. Whatever fails on one of them is told, and the others go on. */
export async function measureTogether(
  application: Application,
  targets: readonly Target[],
  problem: ProblemOptions,
  { repeats, seconds, stop }: Limits,
  progress: ProgressFactory,
): Promise<{ evidence: Evidence[]; refusals: Refusal[] }> {
  const started = performance.now();
  const task = progress(application.name);
  const trials = new Map<Target, Trial>();
  const refusals: Refusal[] = [];
  const steps = targets.length * (repeats + 2);
  let step = 0;
  const refuse = (target: Target, error: unknown, failed: boolean): void => {
    refusals.push({ codePath: codePath(target, problem), target, error, failed });
    trials.get(target)?.free();
    trials.delete(target);
  };
  const onTarget = async (target: Target, what: string, work: () => Promise<void>): Promise<void> => {
    task.update(step++, steps, `${what} on ${target.name}`);
    try {
      await unlessStopped(stop, work);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      refuse(target, error, !(error instanceof DeviceError || error instanceof EmitError));
    }
  };
  const measure = async (): Promise<void> => {
    for (const target of targets)
      await onTarget(target, "preparing", async () => {
        const precision = problem.precision ?? target.devices[0].precision;
        trials.set(target, new Trial(target, await application.prepare(target.set, problem), codePath(target, problem), precision));
      });
    for (let run = 0; run <= repeats && (run <= FEWEST_REPEATS || (performance.now() - started) / 1e3 < seconds); run++)
      for (const [target, trial] of trials)
        await onTarget(target, run === 0 ? "warming up" : `run ${run} of ${repeats}`, () => trial.run(run));
  };
  try {
    await measure().catch((error: unknown) => {
      if (!(error instanceof Stopped)) throw error;
      const unfinished = targets.filter((target) => !trials.get(target)?.ran && !refusals.some((refusal) => refusal.target === target));
      for (const target of unfinished) refusals.push({ codePath: codePath(target, problem), target, error, failed: false });
    });
    for (const [target, trial] of trials) {
      const wrong = trial.wrong();
      if (wrong !== undefined) refusals.push({ codePath: codePath(target, problem), target, error: wrong, failed: true });
    }
    return { evidence: [...trials.values()].filter(({ judged }) => judged).map((trial) => trial.evidence()), refusals };
  } finally {
    // What was under way when it was stopped may still use what it has.
    if (!stop?.aborted) for (const trial of trials.values()) trial.free();
    task.done();
  }
}

/** The application's name in an assessment: strict mode, another kind of grid, layout or overlap, and tuned launches are other code paths. */
export function codePath({ codePath, devices }: Target, problem: ProblemOptions): string {
  const others = (["grid", "layout", "occ"] as const).flatMap((option) => {
    const value = problem[option];
    return value === undefined || value === DEFAULT_SETTINGS[option] ? [] : [value === "auto" ? `auto-${option}` : value];
  });
  const tuned = devices.some(({ tuning }) => tuning.measuring) ? ["tuned"] : [];
  return ["isoform", codePath, ...(problem.precision === "strict" ? ["strict"] : []), ...others, ...tuned].join("-");
}
