import type { Precision, Queue } from "../device/device.js";
import type { View } from "../device/view.js";
import type { Field } from "../domain/field.js";
import type { Grid } from "../domain/grid.js";
import { IsoformError, LaunchError } from "../kernel/errors.js";
import type { DeviceSet, Scalar } from "../set/index.js";
import { explainDot } from "./dot.js";
import { explainText, type Explained } from "./explain.js";
import { explainSvg } from "./graph-drawing.js";
import { entry } from "./graph.js";
import { findNan, NanWatch, type NanPlace } from "./nan.js";
import { fieldsAcross } from "./nodes.js";
import { OCC_LEVELS, type OccLevel } from "./occ.js";
import { Pace } from "./pace.js";
import { nextStart, planOf, stagesOf, type Plan, type Stages } from "./plan.js";
import { Program, type Op, type OpMarks } from "./program.js";
import { exchange, requireDefined, type Step } from "./sequence.js";
import { measuredTimeline, plannedTimeline, type Timeline } from "./timeline.js";
import { timelineSvg, timelineText, timelineTrace } from "./timeline-views.js";

export interface SkeletonOptions {
  /** Overlap of computation and communication; `standard` where absent. On one device there is nothing to overlap. */
  occ?: OccLevel;
  /** Whether containers are merged where that saves memory traffic; yes where absent. */
  fuse?: boolean;
  /** That of the first device where absent. */
  precision?: Precision;
  /** Iterations that are planned, fused and launched together; 1 where absent. */
  unroll?: number;
  /** Fields whose values nobody needs after an iteration, nor in the next one before they are written: fusion need not store them. */
  temporary?: readonly Field[];
}

export interface RunOptions {
  /** What `until` looks at. */
  scalar?: Scalar;
  /** The run stops when this is true. It is asked every `every` iterations; a NaN in the scalar is an error. */
  until?: (value: number) => boolean;
  /** Iterations between two checks, each of which waits for the devices; 10 where absent. */
  every?: number;
  /** Also check the fields that the sequence writes for NaN. */
  nan?: boolean;
  /** Measures each operation of the last plan, which costs time, for `timeline`. */
  trace?: boolean;
}

export interface RunResult {
  /** Iterations that were run. */
  readonly iterations: number;
  /** `until` said so. */
  readonly stopped: boolean;
  /** By the clock of the first device. */
  readonly seconds: number;
}

/** A program for the memory that fields have, and the halos that are up to date, at its start. */
interface Variant {
  readonly program: Program;
  readonly memory: readonly (readonly View[])[];
  readonly generations: readonly number[];
}

/** What a list of containers uses. */
interface Used {
  readonly fields: readonly Field[];
  readonly scalars: readonly Scalar[];
  /** Those whose neighbours on other members are read. */
  readonly across: readonly Field[];
  readonly grids: readonly Grid[];
}

/** Programs that are kept: first iteration and steady state, for fields that go round in a few swaps. */
const KEPT = 16;
const USUAL_INTERVAL = 10;

/**
 * Runs a sequence of containers on all members of a set, as if they ran one after the other on one device.
 * @param steps containers and swaps in the order of one iteration
 */
export function skeleton(set: DeviceSet, name: string, steps: readonly Step[], options: SkeletonOptions = {}): Skeleton {
  return new Skeleton(set, name, steps, options);
}

export class Skeleton {
  readonly precision: Precision;
  readonly level: OccLevel;
  private readonly fused: boolean;
  private readonly unrolled: number;
  private readonly temporary: readonly Field[];
  private readonly stages = new Map<number, Stages>();
  private readonly usedBy = new Map<Stages, Used>();
  private readonly variants: Variant[] = [];
  private watch: NanWatch | undefined;
  private measured: { readonly program: Program; readonly timeline: Timeline } | undefined;

  constructor(
    readonly set: DeviceSet,
    readonly name: string,
    private readonly steps: readonly Step[],
    options: SkeletonOptions,
  ) {
    const { occ = "standard", fuse = true, precision = set.members[0].device.precision, unroll = 1, temporary = [] } = options;
    if (!OCC_LEVELS.includes(occ)) throw new LaunchError(`skeleton "${name}": occ is "${String(occ)}"; use ${OCC_LEVELS.join(", ")}`);
    if (!Number.isInteger(unroll) || unroll < 1)
      throw new LaunchError(`skeleton "${name}": unroll is ${unroll}; give a whole number of at least 1`);
    [this.level, this.fused, this.precision, this.unrolled, this.temporary] = [occ, fuse, precision, unroll, temporary];
    for (const { container } of this.stagesOf(1).written.nodes)
      if (container.grid.set !== set)
        throw new LaunchError(
          `skeleton "${name}": container "${container.name}" belongs to a grid on ${container.grid.set.name}, not to this set of devices, ${set.name}`,
        );
  }

  /**
   * Runs iterations; returns when the devices are done.
   * @throws ContainerError where a field is read that has no values yet, IsoformError where a NaN turns up
   */
  async run(iterations: number, options: RunOptions = {}): Promise<RunResult> {
    const { scalar, until, every = USUAL_INTERVAL, nan = false, trace = false } = options;
    this.checkRun(iterations, every, options);
    const origin = this.set.members[0].queue(0);
    // What the host has written to other members comes first.
    for (const member of this.set.members.slice(1)) origin.wait(member.queue(0).record());
    const pace = new Pace(origin);
    const start = origin.record();
    let [done, checked, stopped] = [0, 0, false];
    while (done < iterations && !stopped) {
      const left = iterations - done;
      const last = left < 2 * this.unrolled && (left === 1 || left === this.unrolled);
      done += trace && last ? await this.traced(left) : this.step(left);
      if (pace.due()) await pace.rest();
      if ((!until && !nan) || Math.floor(done / every) === Math.floor(checked / every)) continue;
      const between = done === checked + 1 ? `iteration ${done}` : `iterations ${checked + 1} to ${done}`;
      checked = done;
      if (nan) await this.requireNumbers(between);
      if (until && scalar) stopped = until(await this.valueOf(scalar, origin, between));
    }
    const end = origin.record();
    await origin.finish();
    return { iterations: done, stopped, seconds: await end.since(start) };
  }

  /**
   * What runs, in which order and why: the graph before and after planning, with the reason of each halo update, split, fusion, stream and
   * event. As text, for Graphviz, or as a picture.
   */
  explain(format: "text" | "dot" | "svg" = "text"): string {
    const explained = this.explained();
    return { text: explainText, dot: explainDot, svg: explainSvg }[format](explained);
  }

  /**
   * When the operations of one plan would run by a model of bytes and links, beside when they did in the last run with `trace`. As text, as
   * a picture, or as JSON for chrome://tracing. Fields need values.
   */
  async timeline(format: "text" | "svg" | "trace" = "text"): Promise<string> {
    const program = this.measured?.program ?? this.variant(this.stagesOf(this.unrolled)).program;
    const planned = await plannedTimeline(program, this.set);
    const timelines = { name: this.name, set: this.set, planned, measured: this.measured?.timeline };
    return { text: timelineText, svg: timelineSvg, trace: timelineTrace }[format](timelines);
  }

  /** Frees what the skeleton holds on the devices. Fields and scalars stay. */
  free(): void {
    for (const { program } of this.variants.splice(0)) program.free();
    this.watch?.free();
    this.watch = undefined;
  }

  /** The same, measured. */
  private async traced(left: number): Promise<number> {
    const { members } = this.set;
    await Promise.all(members.map((member) => member.queue(0).finish()));
    const starts = members.map((member) => member.queue(0).record());
    let traced: { program: Program; marks: ReadonlyMap<Op, OpMarks> } | undefined;
    const done = this.step(left, (program) => (traced = { program, marks: program.trace() }));
    const { program, marks } = traced!;
    this.measured = { program, timeline: await measuredTimeline(marks, starts, this.set) };
    return done;
  }

  /** Submits the next iterations: as many as are unrolled, or one where so many are not left. Returns their number. */
  private step(left: number, submit = (program: Program) => program.submit()): number {
    const stages = this.stagesOf(left >= this.unrolled ? this.unrolled : 1);
    const { program } = this.variant(stages);
    submit(program);
    for (const { uses } of stages.containers) for (const { field, written } of uses) if (written) field.noteWrite();
    for (const field of this.used(stages).across) field.coherent = program.plan.fresh.has(field);
    stages.swaps.forEach(exchange);
    return stages.iterations;
  }

  /** The plan of the next iterations, and that of the steady state which they lead to. */
  private explained(): Explained {
    const stages = this.stagesOf(this.unrolled);
    const plan = (atStart: ReadonlySet<Field>) => planOf(stages, this.set.members.length, this.level, atStart);
    const first = plan(new Set(this.used(stages).across.filter((field) => field.coherent)));
    const seen = new Map<string, Plan>();
    const key = ({ atStart }: Plan) =>
      [...atStart]
        .map((field) => field.name)
        .sort()
        .join();
    let steady = first;
    while (!seen.has(key(steady))) {
      seen.set(key(steady), steady);
      steady = plan(nextStart(steady));
    }
    const decisions = this.variants.filter((variant) => variant.program.plan.stages === stages).at(-1)?.program.decisions ?? [];
    return { name: this.name, set: this.set.name, precision: this.precision, first, steady, decisions };
  }

  private stagesOf(iterations: number): Stages {
    return entry(this.stages, iterations, () => {
      const stages = stagesOf(this.steps, iterations, this.fused, this.temporary);
      for (const container of stages.containers) container.grid.requireStencils(container);
      return stages;
    });
  }

  private used(stages: Stages): Used {
    return entry(this.usedBy, stages, () => {
      const fields = [...new Set(stages.containers.flatMap(({ uses }) => uses.map(({ field }) => field)))];
      const scalars = stages.containers.flatMap((container) => [...container.scalars.values(), ...container.reductions.values()]);
      const grids = new Set<Grid>([...stages.containers.map(({ grid }) => grid), ...fields.map(({ grid }) => grid)]);
      return { fields, scalars: [...new Set(scalars)], across: [...new Set(stages.containers.flatMap(fieldsAcross))], grids: [...grids] };
    });
  }

  /** The program for the fields as they are now. */
  private variant(stages: Stages): Variant {
    const { fields, scalars, across, grids } = this.used(stages);
    for (const grid of grids) grid.lay();
    const memory = [...fields.map((field) => field.storage), ...scalars.map((scalar) => scalar.views)];
    const fits = ({ program: { plan }, memory: before, generations }: Variant) =>
      plan.stages === stages &&
      memory.every((views, n) => views === before[n]) &&
      across.every((field) => field.coherent === plan.atStart.has(field)) &&
      grids.every((grid, n) => grid.generation === generations[n]);
    const known = this.variants.find(fits);
    if (known) return known;
    requireDefined(stages.written.nodes.map(({ container }) => container));
    const plan = planOf(stages, this.set.members.length, this.level, new Set(across.filter((field) => field.coherent)));
    const program = new Program(plan, this.set, this.precision);
    const made = { program, memory, generations: grids.map((grid) => grid.generation) };
    this.variants.push(made);
    if (this.variants.length > KEPT) this.variants.shift()!.program.free();
    return made;
  }

  private async valueOf(scalar: Scalar, origin: Queue, between: string): Promise<number> {
    const value = await scalar.get(origin);
    if (!Number.isNaN(value)) return value;
    for (const field of this.written()) {
      const place = await findNan(field);
      if (place) throw this.nanError(place, between);
    }
    throw new IsoformError(`skeleton "${this.name}", ${between}: scalar "${scalar.name}" became NaN, though no field holds one`);
  }

  private async requireNumbers(between: string): Promise<void> {
    const { members } = this.set;
    await members[0].queue(0).finish();
    const place = await (this.watch ??= new NanWatch(this.written())).find();
    if (place) throw this.nanError(place, between);
  }

  private nanError({ field, cell, component }: NanPlace, between: string): IsoformError {
    const part = field.cardinality > 1 ? `, component ${component}` : "";
    return new IsoformError(
      `skeleton "${this.name}", ${between}: field "${field.name}" became NaN, first in cell [${cell}]${part}` +
        (between.includes("to") ? "; run with { nan: true, every: 1 } to find the iteration" : ""),
    );
  }

  private written(): Field[] {
    const uses = this.stagesOf(1).written.nodes.flatMap(({ container }) => container.uses);
    return [...new Set(uses.filter((use) => use.written).map((use) => use.field))];
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
