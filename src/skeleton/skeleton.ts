import { requireSignal } from "../device/launch/signal.js";
import type { Cost, Precision, Queue } from "../device/device.js";
import { compileAhead } from "../domain/container/ahead.js";
import type { Container, Field } from "../domain/grid/grid.js";
import { DeviceError, IsoformError, LaunchError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import { unreachable } from "../base/unreachable.js";
import { requireSet } from "../set/device-set.js";
import type { DeviceSet, Scalar } from "../set/index.js";
import { inTurn, isAtWork } from "../set/in-turn.js";
import { requireOneProcess } from "../set/one-process.js";
import type { Choice } from "./tuning/choice.js";
import { Executor, type Traced, type UsedData } from "./run/executor.js";
import type { NanLocation, NanWatch } from "./run/nan.js";
import { OCC_LEVELS, type OccLevel } from "./plan/occ.js";
import type { Stages } from "./plan/plan.js";
import type { PlanPattern } from "./ranks/pattern.js";
import { SubmitPace } from "./run/pace.js";
import { requireSteps, type Step } from "./fusion/sequence.js";
import { SWEEP_ORDERS, type SweepOrder } from "./run/sweep-order.js";
import type { StateSnapshot } from "./run/snapshot.js";

/** Options of `skeleton`. */
export interface SkeletonOptions {
  /**
   * Overlap of computation and communication. Default: `standard`. `auto` measures all levels before the first run, on the sequence
   * itself, and remembers the fastest on disk; where memory does not suffice to put back what they change, it is `standard`. On one device
   * there is nothing to overlap.
   */
  occ?: OccLevel | "auto";
  /** Whether to merge containers where that saves memory traffic. Default: true. */
  fuse?: boolean;
  /** Default: the precision of the first device. */
  precision?: Precision;
  /** Iterations that are planned, fused and launched together. Default: 1. */
  unroll?: number;
  /** Fields whose values nobody needs after an iteration, nor in the next one before they are written: fusion need not store them. */
  temporary?: readonly Field[];
  /**
   * `alternating`, the default: every other container sweeps over its cells from the last to the first, where it then finds in the cache
   * what the one before has left there: on GPUs, for boxes in three dimensions that are not much larger than the cache. `forward`: none does.
   */
  sweepOrder?: SweepOrder;
}

/** Options of `skeleton.run`. */
export interface RunOptions {
  /** The scalar that `until` tests. */
  scalar?: Scalar;
  /** The run stops when this is true. It is asked every `every` iterations; a NaN in the scalar is an error. */
  until?: (value: number) => boolean;
  /** Iterations between two checks, each of which waits for the devices. Default: 10. */
  every?: number;
  /** Also check the fields that the sequence writes for NaN. */
  nan?: boolean;
  /** Measures each operation of the last plan, which costs time, for `timeline`. */
  trace?: boolean;
  /**
   * Ends the run after a plan, in one process: what was submitted comes to its end, and the run is rejected with the signal's reason. Fields are as
   * after the iterations that `iteration` counts.
   */
  signal?: AbortSignal;
}

/** Result of a run. */
export interface RunResult {
  /** Iterations that were run. */
  readonly iterations: number;
  /** `until` said so. */
  readonly stopped: boolean;
  /** By the clock of the first device; what was compiled, prepared or measured on the way is left out. */
  readonly seconds: number;
}

/** Iterations of a plan: each has nodes of its own. */
const MOST_UNROLLED = 1024;

/** Plans in one measurement of a level of overlap. */
const MEASURED = 10;
const DEFAULT_INTERVAL = 10;

/**
 * Runs a sequence of containers on all members of a set, as if they ran one after the other on one device.
 * @param steps containers, scalar steps, swaps, and steps that run only `every` n iterations, in the order of one iteration
 */
export function skeleton(set: DeviceSet, name: string, steps: readonly Step[], options: SkeletonOptions = {}): Skeleton {
  requireSet("a skeleton", set);
  requireThing("a skeleton", name, typeof name === "string", 'give a name after the set: skeleton(set, "name", [...])');
  requireSteps(name, steps);
  return new Skeleton(set, name, steps, options);
}

/** A sequence of containers that is planned once, and run as often as wanted. `skeleton(...)` makes one. */
export class Skeleton {
  readonly precision: Precision;
  private readonly executor: Executor;
  private readonly unrolled: number;
  private readonly temporary: ReadonlySet<Field>;
  /** Undefined until it has been chosen. */
  private level: OccLevel | undefined;
  private choice: Choice<OccLevel> | undefined;
  private storage: Choice | undefined;
  private count = 0;
  /** Whether the plans of the coming iterations were checked. */
  private planned = false;
  private watch: NanWatch | undefined;
  private measured: Traced | undefined;

  /** @param steps the steps of an iteration, in order */
  constructor(
    readonly set: DeviceSet,
    readonly name: string,
    readonly steps: readonly Step[],
    options: SkeletonOptions,
  ) {
    requireOptions(`skeleton "${name}"`, options, ["occ", "fuse", "precision", "unroll", "temporary", "sweepOrder"]);
    const {
      occ = "standard",
      fuse = true,
      precision = set.locals[0].device.precision,
      unroll = 1,
      temporary = [],
      sweepOrder = "alternating",
    } = options;
    if (occ !== "auto" && !OCC_LEVELS.includes(occ))
      throw new LaunchError(`skeleton "${name}": occ is "${String(occ)}"; use ${[...OCC_LEVELS, "auto"].join(", ")}`);
    if (!Number.isInteger(unroll) || unroll < 1 || unroll > MOST_UNROLLED)
      throw new LaunchError(`skeleton "${name}": unroll is ${unroll}; give a whole number from 1 to ${MOST_UNROLLED}`);
    if (!SWEEP_ORDERS.includes(sweepOrder))
      throw new LaunchError(`skeleton "${name}": sweepOrder is "${String(sweepOrder)}"; use ${SWEEP_ORDERS.join(" or ")}`);
    if (occ === "auto") requireOneProcess('a level of overlap that is measured, occ "auto",', set);
    this.level = occ === "auto" ? undefined : occ;
    [this.precision, this.unrolled, this.temporary] = [precision, unroll, new Set(temporary)];
    this.executor = new Executor(set, steps, { fuse, precision, temporary, sweepOrder });
    if (this.executor.containers.length === 0) throw new LaunchError(`skeleton "${name}" has no containers; give at least one`);
    for (const container of this.executor.containers)
      if (container.grid.set !== set)
        throw new LaunchError(
          `skeleton "${name}": container "${container.name}" belongs to a grid on ${container.grid.set.name}, not to this set of devices, ${set.name}`,
        );
  }

  /**
   * Runs iterations; returns when the devices are done.
   * @throws ContainerError if a field is read that has no values yet, IsoformError where a NaN turns up
   */
  run(iterations: number, options: RunOptions = {}): Promise<RunResult> {
    return inTurn(this.set, () => this.runNow(iterations, options));
  }

  private async runNow(iterations: number, options: RunOptions): Promise<RunResult> {
    requireOptions("run", options, ["scalar", "until", "every", "nan", "trace", "signal"]);
    const { signal } = options;
    if (signal) requireSignal(signal);
    if (signal) requireOneProcess("a run that a signal ends", this.set);
    if (options.trace) requireOneProcess("a measured timeline", this.set);
    const { scalar, until, every = DEFAULT_INTERVAL, nan = false, trace = false } = options;
    this.checkRun(iterations, every, options);
    this.set.ranks?.requireAlike(
      `the iterations and options of a run of skeleton "${this.name}"`,
      JSON.stringify([this.name, this.count, iterations, every, nan, !until]),
    );
    const level = (this.level ??= await this.choose());
    // Refuses sequences that cannot be planned before anything runs.
    if (!this.planned) this.executor.cycle(this.unrolled, this.count);
    this.planned = true;
    const origin = this.behindTheHost();
    const pace = new SubmitPace(origin);
    let [start, seconds] = [origin.record(), 0];
    let [done, checked, stopped] = [0, 0, false];
    while (done < iterations && !stopped && !signal?.aborted) {
      const stages = this.next(iterations - done);
      let program = this.executor.preparedProgram(stages, level);
      if (this.executor.isUntuned(stages) || (!program && stages.containers.length > 0)) {
        await this.finish();
        seconds += await origin.record().since(start);
        // Later iterations have launches of the same kinds.
        program = await this.executor.prepare(stages, level);
        start = origin.record();
      }
      if (trace && done + stages.iterations === iterations) this.measured = await this.executor.trace(stages, level);
      else this.executor.step(stages, level, { program });
      this.count += stages.iterations;
      done += stages.iterations;
      if (pace.due()) await pace.rest();
      if ((!until && !nan) || Math.floor(done / every) === Math.floor(checked / every)) continue;
      const between = done === checked + 1 ? `iteration ${done}` : `iterations ${checked + 1} to ${done}`;
      checked = done;
      if (nan) await this.requireNumbers(between);
      if (until && scalar) stopped = await this.decided(until(await this.valueOf(scalar, origin, between)), between);
    }
    const end = origin.record();
    await origin.finish();
    if (done < iterations && !stopped) signal?.throwIfAborted();
    for (const species of this.executor.used().species) await species.check(`skeleton "${this.name}"`);
    return { iterations: done, stopped, seconds: seconds + (await end.since(start)) };
  }

  /**
   * Starts to compile the kernels of an iteration and of other containers, side by side in other processes, on devices whose compilers take long (`native`):
   * later runs wait for less. Fields get their memory.
   */
  compile(others: readonly Container[] = []): void {
    compileAhead([...others, ...this.executor.stagesOf(this.unrolled, this.count).containers], this.precision);
  }

  /**
   * Submits iterations and returns at once: for programs that wait for the devices themselves, such as those that draw frames. What is
   * submitted later to stream 0 of the first member comes after them. Nothing is measured, so a level of overlap that is left to measurement
   * has to be chosen in a `run` before.
   */
  submit(iterations: number): void {
    this.checkRun(iterations, DEFAULT_INTERVAL, {});
    if (isAtWork(this.set))
      throw new LaunchError(`skeleton "${this.name}" is submitted while another call runs on several processes; await that first`);
    const level = this.level ?? (this.set.members.length === 1 ? "none" : undefined);
    if (!level) throw new LaunchError(`skeleton "${this.name}": occ is "auto" and not chosen yet; run an iteration before you submit`);
    this.behindTheHost();
    for (let done = 0; done < iterations;) {
      const stages = this.next(iterations - done);
      this.executor.step(stages, level);
      this.count += stages.iterations;
      done += stages.iterations;
    }
  }

  /** Iterations that were run, or submitted: the number of the next one, which decides on the steps of `every`. To be set for a restart. */
  get iteration(): number {
    return this.count;
  }

  set iteration(number: number) {
    if (!Number.isSafeInteger(number) || number < 0)
      throw new LaunchError(`skeleton "${this.name}": iteration ${number}; give a whole number, 0 or more`);
    this.count = number;
  }

  /**
   * Explains the order in which the skeleton runs, and why: the graph before and after planning, with the reason of each halo update,
   * split, fusion, stream and event. As text, for Graphviz, or as a picture; what writes and draws is loaded when it is first asked for.
   * Where iterations do not run the same steps, the text has a plan for each kind of them, and the others show the plan of the next.
   */
  async explain(format: "text" | "dot" | "svg" = "text"): Promise<string> {
    const { explainedOf } = await import("./explain/explained.js");
    const all = explainedOf(this, this.executor, this.unrolled);
    const [explained] = all;
    switch (format) {
      case "text":
        return all.map((await import("./explain/explain.js")).explainText).join("\n\n\n");
      case "dot":
        return (await import("./explain/dot.js")).explainDot(explained);
      case "svg":
        return (await import("./explain/graph-drawing.js")).explainSvg(explained);
      default:
        return unreachable(format);
    }
  }

  /**
   * When the operations of one plan would run by a model of bytes and links, beside when they did in the last run with `trace`. As text, as
   * a picture, or as JSON for chrome://tracing. Fields need values.
   */
  async timeline(format: "text" | "svg" | "trace" = "text"): Promise<string> {
    requireOneProcess("a timeline", this.set);
    const level = (this.level ??= await this.choose());
    const program = this.measured?.program ?? this.executor.programFor(this.executor.stagesOf(this.unrolled, this.count), level);
    const { plannedTimeline } = await import("./run/timeline.js");
    const { timelineIn } = await import("./explain/timeline-views.js");
    const planned = await plannedTimeline(program, this.set);
    return timelineIn(format, { name: this.name, set: this.set, planned, measured: this.measured?.timeline });
  }

  /**
   * Work and messages of each member in one plan, with the times of the last run if it was traced: predictions for other sets are made of it. Fields
   * need values.
   * @throws LaunchError where iterations do not all run the same steps, and for steps whose messages are not known before
   */
  async pattern(): Promise<PlanPattern> {
    const level = (this.level ??= await this.choose());
    if (this.executor.cycle(this.unrolled, this.count).size > 1)
      throw new LaunchError(`skeleton "${this.name}": not all iterations run the same steps, so that one does not tell about the others`);
    const program = this.measured?.program ?? this.executor.programFor(this.executor.stagesOf(this.unrolled, this.count), level);
    const { patternOf } = await import("./ranks/pattern.js");
    return patternOf(this.name, program, this.precision, this.measured?.timeline);
  }

  /**
   * Bytes moved and operations done in an iteration as it is planned, by the counting rule, all members together; the mean where iterations do not
   * run the same steps. Fields need values.
   */
  async work(): Promise<Cost> {
    const level = (this.level ??= await this.choose());
    const cycle = this.executor.cycle(this.unrolled, this.count);
    const total = { bytes: 0, flops: 0 };
    let iterations = 0;
    for (const [stages, { count }] of cycle) {
      iterations += count * stages.iterations;
      for (const { launches } of stages.containers.length > 0 ? this.executor.programFor(stages, level).ops : [])
        for (const { cost } of launches) for (const of of ["bytes", "flops"] as const) total[of] += count * cost[of];
    }
    const { ranks } = this.set;
    const all = ranks ? await ranks.gather(total, `the work of skeleton "${this.name}"`) : [total];
    const sum = (of: keyof Cost): number => all.reduce((whole, each) => whole + each[of], 0) / iterations;
    return { bytes: sum("bytes"), flops: sum("flops") };
  }

  /** The level of overlap; `auto` until it has been chosen. */
  get occ(): OccLevel | "auto" {
    return this.level ?? "auto";
  }

  /** Choices left to measurement, and their results. */
  get choices(): readonly (Choice & { readonly of: "storage" | "occ" })[] {
    return [
      ...(this.storage ? [{ of: "storage" as const, ...this.storage }] : []),
      ...(this.choice ? [{ of: "occ" as const, ...(this.choice as Choice) }] : []),
    ];
  }

  /** For `tuned`, which has chosen how fields are stored. */
  noteStorage(choice: Choice): void {
    this.storage = choice;
  }

  /** The fields that the sequence uses. */
  get fields(): readonly Field[] {
    return this.executor.used().fields;
  }

  /** All that iterations to come depend on, beside the number of the next one. */
  get state(): Pick<UsedData, "fields" | "folded" | "scalars" | "species"> {
    const { fields, folded, scalars, species } = this.executor.used();
    const all = [...new Set([...fields, ...scalars, ...this.executor.swapped])];
    const isField = (of: Field | Scalar): of is Field => "cardinality" in of;
    return {
      fields: all.filter(isField).filter((field) => !this.temporary.has(field)),
      folded,
      scalars: all.filter((of) => !isField(of)),
      species,
    };
  }

  /** Everything that the time of an iteration depends on. */
  async timingKey(): Promise<readonly string[]> {
    const { timingKey } = await import("./tuning/auto.js");
    return timingKey(this.executor.typical(this.unrolled, this.count), this.set, this.precision);
  }

  /** Frees what the skeleton holds on the devices. Fields and scalars stay. */
  free(): void {
    this.executor.free();
    this.watch?.free();
    this.watch = undefined;
  }

  /** Stream 0 of the first member, where what the host has written to other members comes first. */
  private behindTheHost(): Queue {
    const [origin, ...others] = this.set.locals.map((member) => member.queue(0));
    for (const queue of others) origin.wait(queue.record());
    return origin;
  }

  /** Stages of the next program: as many iterations as are unrolled, or one if fewer are left. */
  private next(left: number): Stages {
    return this.executor.stagesOf(left >= this.unrolled ? this.unrolled : 1, this.count);
  }

  /** Measures the levels of overlap on the sequence itself, as most iterations run it, and leaves all contents as they were. */
  private async choose(): Promise<OccLevel> {
    const { set, unrolled, executor } = this;
    if (set.members.length === 1) return "none";
    const stages = executor.typical(unrolled, this.count);
    // Refuses what cannot run before anything is copied.
    executor.programFor(stages, "none");
    const { fastestLevel } = await import("./tuning/auto.js");
    const snapshot = await this.snapshot(stages);
    if (!snapshot) return "standard";
    try {
      await this.finish();
      this.choice = await fastestLevel(await this.timingKey(), async (level) => {
        if (set.virtual) return (await executor.trace(stages, level))!.timeline.seconds;
        const [origin] = set.locals.map((member) => member.queue(0));
        const start = origin.record();
        for (let n = 0; n < MEASURED; n++) executor.step(stages, level);
        return (await origin.record().since(start)) / MEASURED;
      });
    } finally {
      snapshot.restore();
      await this.finish();
      snapshot.free();
    }
    return this.choice.best;
  }

  /** Nothing where the memory does not suffice. */
  private async snapshot(stages: Stages): Promise<StateSnapshot | undefined> {
    const { StateSnapshot } = await import("./run/snapshot.js");
    const { written, scalars, folded, species } = this.executor.used(stages);
    try {
      return new StateSnapshot(this.set, new Set([...written, ...scalars, ...folded, ...stages.swaps.flat()]), species);
    } catch (error) {
      if (error instanceof DeviceError) return undefined;
      throw error;
    }
  }

  private async finish(): Promise<void> {
    await Promise.all(this.set.locals.map((member) => member.queue(0).finish()));
  }

  /** Rank 0's decision, where several processes ask. */
  private async decided(stop: boolean, between: string): Promise<boolean> {
    const { ranks } = this.set;
    return ranks ? ranks.agree(stop, `skeleton "${this.name}", ${between}`) : stop;
  }

  private async valueOf(scalar: Scalar, origin: Queue, between: string): Promise<number> {
    const value = await scalar.get(origin);
    if (!Number.isNaN(value)) return value;
    const { findNan } = await import("./run/nan.js");
    for (const field of this.written()) {
      const found = await findNan(field);
      if (found) throw this.nanError(found, between);
    }
    throw new IsoformError(`skeleton "${this.name}", ${between}: scalar "${scalar.name}" became NaN, though no field holds one`);
  }

  private async requireNumbers(between: string): Promise<void> {
    await this.set.locals[0].queue(0).finish();
    const { NanWatch } = await import("./run/nan.js");
    const found = await (this.watch ??= new NanWatch(this.written())).find();
    if (found) throw this.nanError(found, between);
  }

  private nanError({ field, cell, component }: NanLocation, between: string): IsoformError {
    const part = field.cardinality > 1 ? `, component ${component}` : "";
    return new IsoformError(
      `skeleton "${this.name}", ${between}: field "${field.name}" became NaN, first in cell [${cell}]${part}` +
        (between.includes("to") ? "; run with { nan: true, every: 1 } to find the iteration" : ""),
    );
  }

  /** Fields that hold results. */
  private written(): Field[] {
    const uses = this.executor.containers.flatMap((container) => container.uses);
    const written = new Set(uses.filter((use) => use.written).map((use) => use.field));
    return [...written].filter((field) => !this.temporary.has(field));
  }

  private checkRun(iterations: number, every: number, { scalar, until }: RunOptions): void {
    const fail = (problem: string): never => {
      throw new LaunchError(`skeleton "${this.name}": ${problem}`);
    };
    if (!Number.isInteger(iterations) || iterations < 0) fail(`${iterations} iterations; give a whole number, 0 or more`);
    if (!Number.isInteger(every) || every < 1) fail(`a check every ${every} iterations; give a whole number of at least 1`);
    if (until && !scalar) fail("until has no scalar to look at; give { scalar, until }");
  }
}
