import type { Precision } from "../../device/device.js";
import type { View } from "../../device/memory/view.js";
import type { AxisArray } from "../../domain/grid/axis-array.js";
import { resultsOf, type Container, type Field, type Grid, type GridSpecies } from "../../domain/grid/grid.js";
import { byLocal, onAnyRank, spansProcesses, type DeviceSet, type Scalar } from "../../set/index.js";
import { getOrMake } from "../entry.js";
import { MergedContainers } from "../fusion/merged.js";
import { fieldsAcross, type Derived } from "../plan/nodes.js";
import type { OccLevel } from "../plan/occ.js";
import { nextStart, planOf, stagesOf, type Plan, type Stages } from "../plan/plan.js";
import type { Op } from "./op.js";
import { BoundProgram, type OpMarks } from "./bound-program.js";
import {
  containersIn,
  exchange,
  leastMultiple,
  marksOf,
  periodOf,
  requireDefined,
  swapsIn,
  undefinedRead,
  type Step,
} from "../fusion/sequence.js";
import type { Timeline } from "./timeline.js";
import type { SweepOrder } from "./sweep-order.js";

interface ExecutorOptions {
  readonly fuse: boolean;
  readonly precision: Precision;
  readonly temporary: readonly Field[];
  readonly sweepOrder: SweepOrder;
}

/** Data that a list of containers uses. */
export interface UsedData {
  readonly fields: readonly Field[];
  /** Data that are written. */
  readonly written: readonly Field[];
  /** Fields whose neighbours on other members are read, and species. */
  readonly derived: readonly Derived[];
  readonly scalars: readonly Scalar[];
  /** Arrays along axes that take results. */
  readonly folded: readonly AxisArray[];
  readonly species: readonly GridSpecies[];
  readonly grids: readonly Grid[];
}

/** A program for the memory that fields and scalars have, and what is up to date, at its start. */
interface Variant {
  readonly program: BoundProgram;
  readonly memory: readonly (readonly View[])[];
  readonly generations: readonly number[];
}

/** A program and when its operations ran. */
export interface Traced {
  readonly program: BoundProgram;
  readonly timeline: Timeline;
}

/** Options of `Executor.step`. */
interface StepOptions {
  program?: BoundProgram;
  /** Default: the program's own `submit`. */
  readonly submit?: (program: BoundProgram) => void;
}

/** Programs of stages that are kept: of the first iteration and the steady state, for each place of fields that go round in swaps. */
const KEPT = 16;
/** Plans in a row that are looked at for what comes how often. */
const LOOKED = 1000;

/** Runs iterations, with programs that are prepared when they are first needed. */
export class Executor {
  /** The sequence's containers, as written. */
  readonly containers: readonly Container[];
  /** Fields and scalars that swaps of the sequence exchange. */
  readonly swapped: readonly (Field | Scalar)[];
  private readonly period: number;
  /** By what runs in which iteration. */
  private readonly stages = new Map<string, Stages>();
  private readonly usedBy = new Map<readonly Container[], UsedData>();
  private readonly variants = new Map<Stages, Variant[]>();
  private readonly tuned = new WeakSet<Stages>();
  /** Second buffers and merged containers, which all stages share. */
  private readonly shared = { spares: new Map<Field | Scalar, Field | Scalar>(), merged: new MergedContainers() };

  constructor(
    private readonly set: DeviceSet,
    private readonly steps: readonly Step[],
    private readonly options: ExecutorOptions,
  ) {
    this.containers = containersIn(steps);
    this.swapped = swapsIn(steps).flat();
    this.period = periodOf(steps);
  }

  /** Submits iterations as one program, which may be at hand from `preparedProgram`. */
  step(stages: Stages, level: OccLevel, { program, submit = (made) => made.submit() }: StepOptions = {}): void {
    if (stages.containers.length > 0) {
      program ??= this.programFor(stages, level);
      submit(program);
      const { written, derived } = this.used(stages);
      for (const field of written) field.noteWrite();
      for (const of of derived) of.coherent = program.plan.fresh.has(of);
    }
    stages.swaps.forEach(exchange);
  }

  /** The same, with the time of each operation. */
  async trace(stages: Stages, level: OccLevel): Promise<Traced | undefined> {
    await Promise.all(this.set.locals.map((member) => member.queue(0).finish()));
    const starts = byLocal(this.set, (member) => member.queue(0).record());
    let traced: { program: BoundProgram; marks: ReadonlyMap<Op, OpMarks> } | undefined;
    this.step(stages, level, { submit: (program) => (traced = { program, marks: program.trace() }) });
    if (!traced) return undefined;
    const { program, marks } = traced as { program: BoundProgram; marks: ReadonlyMap<Op, OpMarks> };
    const { measuredTimeline } = await import("./timeline.js");
    return { program, timeline: await measuredTimeline(marks, starts, this.set) };
  }

  /** The containers of `iterations` iterations from number `first` on, fused where asked for. */
  stagesOf(iterations: number, first: number): Stages {
    const marks = Array.from({ length: iterations }, (_, n) => marksOf(this.steps, first + n)).join();
    return getOrMake(this.stages, marks, () => {
      const { fuse, temporary } = this.options;
      const stages = stagesOf(this.steps, iterations, fuse, temporary, first, this.shared);
      for (const container of stages.containers) container.grid.requireStencils(container);
      return stages;
    });
  }

  /** The stages of the plans from an iteration on, until they come again, with the first iteration of each and how many plans there are of it. */
  cycle(iterations: number, first: number): ReadonlyMap<Stages, { readonly first: number; count: number }> {
    const found = new Map<Stages, { readonly first: number; count: number }>();
    const plans = Math.min(LOOKED, leastMultiple(this.period, iterations) / iterations);
    for (let n = 0; n < plans; n++) {
      const start = first + n * iterations;
      getOrMake(found, this.stagesOf(iterations, start), () => ({ first: start, count: 0 })).count++;
    }
    return found;
  }

  /** The most frequent plan, and the longest of several, among the plans that can run now, or else among all. */
  typical(iterations: number, first: number): Stages {
    const all = [...this.cycle(iterations, first)].filter(([{ containers }]) => containers.length > 0);
    all.sort(([a, x], [b, y]) => y.count - x.count || b.containers.length - a.containers.length);
    const able = all.find(([{ written }]) => !undefinedRead(written.nodes.map(({ container }) => container)));
    return (able ?? all[0])[0];
  }

  used({ containers }: { readonly containers: readonly Container[] } = this): UsedData {
    return getOrMake(this.usedBy, containers, () => {
      const uses = containers.flatMap((container) => container.uses);
      const fields = [...new Set(uses.map(({ field }) => field))];
      const scalars = containers.flatMap((container) => [...container.scalars.values(), ...resultsOf(container)]);
      const species = [...new Set(containers.flatMap(({ particles }) => (particles ? [particles.species] : [])))];
      return {
        fields,
        written: [...new Set(uses.filter((use) => use.written).map(({ field }) => field))],
        derived: [...new Set(containers.flatMap(fieldsAcross)), ...species],
        species,
        scalars: [...new Set(scalars)],
        folded: [...new Set(containers.flatMap(({ axisFolds = [] }) => axisFolds.map(({ array }) => array)))],
        grids: [...new Set<Grid>([...containers.map(({ grid }) => grid), ...fields.map(({ grid }) => grid)])],
      };
    });
  }

  /** The plan where this is up to date. */
  plan(stages: Stages, level: OccLevel, atStart: ReadonlySet<Derived>): Plan {
    const fast = this.options.precision === "fast";
    return planOf(
      stages,
      this.set.members.length,
      level,
      atStart,
      (container, field) => fast && container.grid.canPeerStore(container, field),
      spansProcesses(this.set),
    );
  }

  /** The program that the next `step` of stages runs, if it is there already. */
  preparedProgram(stages: Stages, level: OccLevel): BoundProgram | undefined {
    const variants = this.variants.get(stages);
    if (variants === undefined) return undefined;
    const { fields, scalars, derived, grids } = this.used(stages);
    for (const grid of grids) grid.layOut();
    const memoryOf = (n: number) => (n < fields.length ? fields[n].storage : scalars[n - fields.length].views);
    return variants.find(
      ({ program: { plan }, memory, generations }) =>
        plan.level === level &&
        memory.every((views, n) => views === memoryOf(n)) &&
        derived.every((of) => of.coherent === plan.atStart.has(of)) &&
        grids.every((grid, n) => grid.generation === generations[n]),
    )?.program;
  }

  /** The program for fields, scalars, halos and particles as they are now; made where it is not there yet. */
  programFor(stages: Stages, level: OccLevel): BoundProgram {
    const prepared = this.preparedProgram(stages, level);
    if (prepared) return prepared;
    const { fields, scalars, derived, grids } = this.used(stages);
    for (const grid of grids) grid.layOut();
    requireDefined(stages.written.nodes.map(({ container }) => container));
    const plan = this.plan(stages, level, new Set(derived.filter((of) => of.coherent)));
    const memory = [...fields.map((field) => field.storage), ...scalars.map((scalar) => scalar.views)];
    const program = new BoundProgram(plan, this.set, this.options.precision, this.options.sweepOrder);
    this.set.ranks?.requireAlike(`the plan of ${program.name}`, program.digestible);
    const variants = getOrMake(this.variants, stages, () => []);
    variants.push({ program, memory, generations: grids.map((grid) => grid.generation) });
    if (variants.length > KEPT) variants.shift()!.program.free();
    return program;
  }

  /** Makes and captures the program that the next `step` of stages runs, and tunes it where that is asked for; nothing where no container runs. */
  async prepare(stages: Stages, level: OccLevel): Promise<BoundProgram | undefined> {
    if (this.isUntuned(stages)) await this.tune(stages, level);
    if (stages.containers.length === 0) return undefined;
    const program = this.programFor(stages, level);
    program.capture();
    return program;
  }

  /** Something of it may be left to `tune`. */
  isUntuned(stages: Stages): boolean {
    return !this.tuned.has(stages) && this.set.locals.some(({ device }) => device.tuning.measuring);
  }

  /**
   * Measures the launches of the next program, and of the one after it, for which nothing is known; programs are prepared anew where
   * something was found. Only on devices whose tuning is `measuring`, all of which must be at rest.
   */
  async tune(stages: Stages, level: OccLevel): Promise<void> {
    this.tuned.add(stages);
    if (stages.containers.length === 0) return;
    const program = this.programFor(stages, level);
    // Once halos are up to date, views may be split in another way.
    const { precision, sweepOrder } = this.options;
    const next = new BoundProgram(this.plan(stages, level, nextStart(program.plan)), this.set, precision, sweepOrder);
    try {
      await next.tune();
    } finally {
      next.free();
    }
    if (!(await onAnyRank(this.set, await program.tune(), `the tuning of ${program.name}`))) return;
    const variants = this.variants.get(stages)!;
    variants.splice(
      variants.findIndex((variant) => variant.program === program),
      1,
    );
    program.free();
  }

  /** Remarks of the devices on the latest program of these stages. */
  remarks(stages: Stages): readonly string[] {
    return this.variants.get(stages)?.at(-1)?.program.remarks ?? [];
  }

  free(): void {
    for (const { program } of [...this.variants.values()].flat()) program.free();
    this.variants.clear();
  }
}
