import type { Precision } from "../../device/device.js";
import type { View } from "../../device/memory/view.js";
import { resultsOf, type Container, type Field, type Grid, type GridSpecies } from "../../domain/grid/grid.js";
import type { DeviceSet, Scalar } from "../../set/index.js";
import { entry } from "../entry.js";
import { fieldsAcross, type Derived } from "../plan/nodes.js";
import type { OccLevel } from "../plan/occ.js";
import { nextStart, planOf, stagesOf, type Plan, type Stages } from "../plan/plan.js";
import { Program, type Op, type OpMarks } from "./program.js";
import { exchange, requireDefined, unroll, type Step } from "../fusion/sequence.js";
import type { Timeline } from "./timeline.js";
import type { SweepOrder } from "./sweep-order.js";

export interface ExecutorOptions {
  readonly fuse: boolean;
  readonly precision: Precision;
  readonly temporary: readonly Field[];
  readonly sweepOrder: SweepOrder;
}

/** What a list of containers uses. */
export interface Used {
  readonly fields: readonly Field[];
  /** Those that are written. */
  readonly written: readonly Field[];
  /** Fields whose neighbours on other members are read, and species. */
  readonly derived: readonly Derived[];
  readonly scalars: readonly Scalar[];
  readonly species: readonly GridSpecies[];
  readonly grids: readonly Grid[];
}

/** A program for the memory that fields and scalars have, and what is up to date, at its start. */
interface Variant {
  readonly program: Program;
  readonly memory: readonly (readonly View[])[];
  readonly generations: readonly number[];
}

/** A program and when its operations ran. */
export interface Traced {
  readonly program: Program;
  readonly timeline: Timeline;
}

/** Programs that are kept: of the first iteration and the steady state, for each place of fields that go round in swaps. */
const KEPT = 16;

/** Runs iterations, with programs that are prepared when they are first needed. */
export class Executor {
  /** Those of one iteration, as written. */
  readonly containers: readonly Container[];
  private readonly stages = new Map<number, Stages>();
  private readonly usedBy = new Map<Stages, Used>();
  private readonly variants: Variant[] = [];
  private readonly tuned = new WeakSet<Stages>();

  constructor(
    private readonly set: DeviceSet,
    private readonly steps: readonly Step[],
    private readonly options: ExecutorOptions,
  ) {
    this.containers = unroll(steps, 1).containers;
  }

  /** Submits so many iterations as one program. */
  step(iterations: number, level: OccLevel, submit = (program: Program) => program.submit()): void {
    const stages = this.stagesOf(iterations);
    const program = this.programFor(stages, level);
    submit(program);
    const { written, derived } = this.used(stages);
    for (const field of written) field.noteWrite();
    for (const of of derived) of.coherent = program.plan.fresh.has(of);
    stages.swaps.forEach(exchange);
  }

  /** The same, with the time of each operation. */
  async trace(iterations: number, level: OccLevel): Promise<Traced> {
    const { members } = this.set;
    await Promise.all(members.map((member) => member.queue(0).finish()));
    const starts = members.map((member) => member.queue(0).record());
    let traced: { program: Program; marks: ReadonlyMap<Op, OpMarks> } | undefined;
    this.step(iterations, level, (program) => (traced = { program, marks: program.trace() }));
    const { program, marks } = traced!;
    const { measuredTimeline } = await import("./timeline.js");
    return { program, timeline: await measuredTimeline(marks, starts, this.set) };
  }

  /** The containers of so many iterations, fused where asked for. */
  stagesOf(iterations: number): Stages {
    return entry(this.stages, iterations, () => {
      const { fuse, temporary } = this.options;
      const stages = stagesOf(this.steps, iterations, fuse, temporary);
      for (const container of stages.containers) container.grid.requireStencils(container);
      return stages;
    });
  }

  used(stages: Stages): Used {
    return entry(this.usedBy, stages, () => {
      const uses = stages.containers.flatMap((container) => container.uses);
      const fields = [...new Set(uses.map(({ field }) => field))];
      const scalars = stages.containers.flatMap((container) => [...container.scalars.values(), ...resultsOf(container)]);
      const species = [...new Set(stages.containers.flatMap(({ particles }) => (particles ? [particles.species] : [])))];
      return {
        fields,
        written: [...new Set(uses.filter((use) => use.written).map(({ field }) => field))],
        derived: [...new Set(stages.containers.flatMap(fieldsAcross)), ...species],
        species,
        scalars: [...new Set(scalars)],
        grids: [...new Set<Grid>([...stages.containers.map(({ grid }) => grid), ...fields.map(({ grid }) => grid)])],
      };
    });
  }

  /** The plan of the iterations behind those of a plan. */
  planAfter(plan: Plan): Plan {
    return this.plan(plan.stages, plan.level, nextStart(plan));
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
    );
  }

  /** The program for fields, scalars, halos and particles as they are now. */
  programFor(stages: Stages, level: OccLevel): Program {
    const { fields, scalars, derived, grids } = this.used(stages);
    for (const grid of grids) grid.layOut();
    const memoryOf = (n: number) => (n < fields.length ? fields[n].storage : scalars[n - fields.length].views);
    const known = this.variants.find(
      ({ program: { plan }, memory, generations }) =>
        plan.stages === stages &&
        plan.level === level &&
        memory.every((views, n) => views === memoryOf(n)) &&
        derived.every((of) => of.coherent === plan.atStart.has(of)) &&
        grids.every((grid, n) => grid.generation === generations[n]),
    );
    if (known) return known.program;
    requireDefined(stages.written.nodes.map(({ container }) => container));
    const plan = this.plan(stages, level, new Set(derived.filter((of) => of.coherent)));
    const memory = [...fields, ...scalars].map((_, n) => memoryOf(n));
    const program = new Program(plan, this.set, this.options.precision, this.options.sweepOrder);
    this.variants.push({ program, memory, generations: grids.map((grid) => grid.generation) });
    if (this.variants.length > KEPT) this.variants.shift()!.program.free();
    return program;
  }

  /**
   * Measures the launches of the next program, and of the one after it, for which nothing is known; programs are prepared anew where
   * something was found. Only on devices whose tuning is `measuring`, all of which must be at rest.
   */
  async tune(iterations: number, level: OccLevel): Promise<void> {
    const stages = this.stagesOf(iterations);
    if (this.tuned.has(stages)) return;
    this.tuned.add(stages);
    const program = this.programFor(stages, level);
    // Once halos are up to date, views may be split in another way.
    const { precision, sweepOrder } = this.options;
    const next = new Program(this.plan(stages, level, nextStart(program.plan)), this.set, precision, sweepOrder);
    try {
      await next.tune();
    } finally {
      next.free();
    }
    if (!(await program.tune())) return;
    const at = this.variants.findIndex((variant) => variant.program === program);
    this.variants.splice(at, 1);
    program.free();
  }

  /** What the devices made of the latest program of these stages. */
  remarks(stages: Stages): readonly string[] {
    return this.variants.findLast(({ program }) => program.plan.stages === stages)?.program.remarks ?? [];
  }

  free(): void {
    for (const { program } of this.variants.splice(0)) program.free();
  }
}
