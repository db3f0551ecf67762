import type { Precision } from "../device/device.js";
import { DEFAULT_SETTINGS } from "../skeleton/settings.js";
import { DeviceError, EmitError, IsoformError } from "../base/errors.js";
import {
  ITERATION,
  type Application,
  type PreparedApplication,
  type ProblemOptions,
  type ProgressFactory,
  type Sample,
} from "./application.js";
import type { Evidence } from "./assessment.js";
import { BuildNotes } from "./built.js";
import type { TimedRun } from "./cells.js";
import { GpuPortDevice } from "./ports/gpu-port.js";
import { PortDevice } from "./ports/port-device.js";
import type { Missing, Setting, Validation } from "./schema.js";
import { EmittedFiles } from "./source-files.js";
import { NoProgramError } from "./handwritten/sources.js";
import { mean, uncertainty } from "./statistics.js";
import { Stopped, unlessStopped } from "./stop.js";
import type { CodePath } from "./code-paths.js";
import type { AssessedTarget } from "./target.js";

/** Enough for a mean and its error, of a quick look or where time is short. */
export const FEWEST_REPEATS = 3;

/** Relative error of a mean, to 95 %, below which a trial ends if time is short. */
const CERTAIN = 0.02;
/** Seconds of one run, if time is short. */
const RUN_SECONDS = 0.4;
/** Iterations of fast devices if time is short, more than the number asked of all. The start of a run then takes little of the time. */
const FAST_ITERATIONS = 20;
const SHORT_RUN_SECONDS = 0.05;
/** Ratio to the best earlier run above which warming up ends, if time is short. */
const FASTER = 0.9;
const WARM = 4;

interface Limits {
  readonly repeats: number;
  readonly seconds: number;
  /** Set if time is short: most iterations of a run of some length, and repeats end once the mean is certain. */
  readonly iterations?: number;
  /** Ends the runs: those that are finished by then count. */
  readonly stop?: AbortSignal;
}

type RunKey = Pick<TimedRun, "application" | "platform" | "problem">;

/** Subject of a measurement: an application on a target, or a hand-written program on a target's hardware. */
export interface Contestant {
  /** Its name in an assessment. */
  readonly codePath: string;
  readonly target: AssessedTarget;
  /** Devices in a word, for progress and lists. */
  readonly devices: string;
  readonly precision: Precision;
  /** Memory that its data take. */
  readonly bytes: number;
  /** Written by hand: its work is the work of the application, which runs beside it. */
  readonly byHand?: boolean;
  prepare(): Promise<PreparedApplication>;
}

/** One of them, with what its runs gave. */
class Trial {
  private readonly runs: TimedRun[] = [];
  private readonly verdicts = new Map<string, Validation>();
  private readonly emitted: EmittedFiles;
  /** Seconds of an iteration, at best. */
  private fastest = Infinity;

  constructor(
    private readonly contestant: Contestant,
    private readonly prepared: PreparedApplication,
    private readonly notes: BuildNotes,
  ) {
    this.emitted = new EmittedFiles(contestant.target.name);
  }

  /** A trial of the contestant, with its data. */
  static async prepare(contestant: Contestant): Promise<Trial> {
    const notes = notesFor(contestant.target);
    return new Trial(contestant, await notes.during(() => contestant.prepare()), notes);
  }

  /**
   * Runs and validates; a wrong run is reported but does not count.
   * @param most iterations, where time is short
   */
  async run(run: number, most?: number): Promise<void> {
    const { key } = this;
    const samples = await this.once(most);
    const { ok, maxError, against } = await this.prepared.validate();
    const before = this.verdicts.get(against);
    this.verdicts.set(against, {
      ...key,
      against,
      ok: ok && (before?.ok ?? true),
      maxError: Math.max(maxError, before?.maxError ?? 0),
    });
    if (ok) this.runs.push(...samples.map((sample) => ({ ...key, run, ...sample })));
  }

  /** Iterations of a run that must not take long, at the best speed so far. */
  private iterations(most: number): number {
    const within = (seconds: number): number => Math.floor(seconds / this.fastest);
    return Math.max(1, Math.min(most, within(RUN_SECONDS)), Math.min(FAST_ITERATIONS, within(SHORT_RUN_SECONDS)));
  }

  private async once(most?: number): Promise<Sample[]> {
    const samples = await this.prepared.run(most && this.iterations(most));
    this.fastest = Math.min(this.fastest, samples.find(({ quantity }) => quantity === ITERATION)?.seconds ?? Infinity);
    return samples;
  }

  /** Engines compile while they run, so that first iterations say little. */
  warmUp(most?: number): Promise<void> {
    return this.notes.during(() => this.emitted.during(() => this.warm(most)));
  }

  private async warm(most?: number): Promise<void> {
    if (most === undefined) return void (await this.once());
    for (let done = 0, before = 0; done < Math.min(most, WARM) || this.fastest < FASTER * before;) {
      before = this.fastest;
      done += this.iterations(most);
      await this.once(most);
    }
  }

  /** More runs would hardly change the mean. */
  get settled(): boolean {
    const times = this.runs.filter(({ quantity }) => quantity === ITERATION).map(({ seconds }) => seconds);
    return times.length >= FEWEST_REPEATS && uncertainty(times) <= CERTAIN * mean(times);
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

  /** @param others what the quantities of hand-written programs have bytes and operations of */
  evidence(others: readonly Trial[]): Evidence {
    const { grid, layout, occ, choices } = this.prepared.report?.() ?? {};
    const { devices, precision, byHand } = this.contestant;
    const { form } = this.prepared;
    const setting = { ...this.key, devices, precision, form, grid, layout, occ, choices } as Setting;
    const build = byHand ? undefined : this.notes.build(this.key, precision);
    const resources = byHand ? [] : this.notes.kernelResources(this.key);
    const runs = byHand ? this.runs.map((run) => ({ ...run, ...workOf(run.quantity, others) })) : this.runs;
    const files = this.prepared.files ?? this.emitted.files;
    return {
      host: [],
      devices: [],
      runs,
      validation: [...this.verdicts.values()],
      settings: [setting],
      coverage: files.length > 0 ? [{ ...this.key, files: [...files] }] : [],
      builds: build ? [build] : [],
      resources,
    };
  }

  /** Bytes and operations of a quantity in the first run that has it. */
  work(quantity: string): Pick<TimedRun, "bytes" | "flops"> | undefined {
    const run = this.runs.find((each) => each.quantity === quantity && each.bytes !== undefined);
    return run && { bytes: run.bytes, flops: run.flops };
  }

  private get key(): RunKey {
    const { codePath: application, target } = this.contestant;
    return { application, platform: target.platform, problem: this.prepared.problem };
  }

  free(): void {
    this.prepared.free();
  }
}

function notesFor({ name, devices: [device] }: AssessedTarget): BuildNotes {
  return new BuildNotes(name, device instanceof PortDevice || device instanceof GpuPortDevice ? device.toolchain : undefined);
}

/** The least that a quantity has in any of the trials. */
function workOf(quantity: string, trials: readonly Trial[]): Pick<TimedRun, "bytes" | "flops"> | undefined {
  const found = trials.map((trial) => trial.work(quantity)).filter((work) => work !== undefined);
  return found.toSorted((a, b) => a.bytes! - b.bytes!)[0];
}

/** A contestant that has not run to its end. */
export interface Refusal {
  readonly contestant: Contestant;
  readonly error: unknown;
  /** Whether it was meant to run: work that a device or a target language cannot do is not a failure. */
  readonly failed: boolean;
}

export const missingOf = ({ contestant: { codePath, target, devices }, error, failed }: Refusal, problem: string): Missing => ({
  application: codePath,
  platform: target.platform,
  problem,
  devices,
  reason: reasonOf(error),
  ...(failed && { failed }),
});

/** Describes an error in words. Errors that are not meant for users get their name. */
export function reasonOf(error: unknown): string {
  if (error instanceof Stopped) return "the assessment ended before it ran";
  if (error instanceof IsoformError) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Errors for features that a device, a target language or a machine without a compiler lacks, which are not failures. */
const LACKS = [DeviceError, EmitError, NoProgramError] as const;

/** An application on a target, in one of its forms. */
export const contestantOf = ({ application, target, problem }: CodePath): Contestant => ({
  codePath: codePath(application, target, problem),
  target,
  bytes: application.footprint(problem),
  devices: target.name,
  precision: problem.precision ?? target.devices[0].precision,
  prepare: () => application.prepare(target.set, problem),
});

/** Runs the trials whose data are in memory at once. If one fails, the failure is reported, and the others go on. */
export async function measureTogether(
  name: string,
  contestants: readonly Contestant[],
  { repeats, seconds, iterations, stop }: Limits,
  progress: ProgressFactory,
): Promise<{ evidence: Evidence[]; refusals: Refusal[] }> {
  const started = performance.now();
  const task = progress(name);
  const trials = new Map<Contestant, Trial>();
  const refusals: Refusal[] = [];
  const steps = contestants.length * (repeats + 2);
  let step = 0;
  const refuse = (contestant: Contestant, error: unknown, failed: boolean): void => {
    refusals.push({ contestant, error, failed });
    trials.get(contestant)?.free();
    trials.delete(contestant);
  };
  const onTarget = async (contestant: Contestant, what: string, work: () => Promise<void>): Promise<void> => {
    task.update(step++, steps, `${what} ${contestant.byHand ? "by hand" : "on"} ${contestant.devices}`);
    try {
      await unlessStopped(stop, work);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      refuse(contestant, error, !LACKS.some((kind) => error instanceof kind));
    }
  };
  const measure = async (): Promise<void> => {
    for (const contestant of contestants)
      await onTarget(contestant, "preparing", async () => {
        trials.set(contestant, await Trial.prepare(contestant));
      });
    for (const [contestant, trial] of trials) await onTarget(contestant, "warming up", () => trial.warmUp(iterations));
    for (let run = 1; run <= repeats && (run <= FEWEST_REPEATS || (performance.now() - started) / 1e3 < seconds); run++)
      for (const [contestant, trial] of trials)
        if (iterations === undefined || !trial.settled)
          await onTarget(contestant, `run ${run} of ${repeats}`, () => trial.run(run, iterations));
  };
  try {
    await measure().catch((error: unknown) => {
      if (!(error instanceof Stopped)) throw error;
      const unfinished = contestants.filter((each) => !trials.get(each)?.ran && !refusals.some(({ contestant }) => contestant === each));
      for (const contestant of unfinished) refusals.push({ contestant, error, failed: false });
    });
    for (const [contestant, trial] of trials) {
      const wrong = trial.wrong();
      if (wrong !== undefined) refusals.push({ contestant, error: wrong, failed: true });
    }
    const all = [...trials.values()];
    return { evidence: all.filter(({ judged }) => judged).map((trial) => trial.evidence(all)), refusals };
  } finally {
    // Keeps memory that work in progress may still use when it was stopped.
    if (!stop?.aborted) for (const trial of trials.values()) trial.free();
    task.done();
  }
}

/** The application's name in an assessment: another form, strict mode, another kind of grid, layout or overlap, and tuned launches are other code paths. */
function codePath({ forms }: Application, { codePath, devices }: AssessedTarget, problem: ProblemOptions): string {
  const form = problem.form === undefined || problem.form === forms?.names[0] ? [] : [problem.form];
  const others = (["grid", "layout", "occ"] as const).flatMap((option) => {
    const value = problem[option];
    return value === undefined || value === DEFAULT_SETTINGS[option] ? [] : [value === "auto" ? `auto-${option}` : value];
  });
  const tuned = devices.some(({ tuning }) => tuning.measuring) ? ["tuned"] : [];
  return ["isoform", codePath, ...form, ...(problem.precision === "strict" ? ["strict"] : []), ...others, ...tuned].join("-");
}
