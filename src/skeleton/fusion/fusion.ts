import { resultsOf, type Container, type Field, type Grid } from "../../domain/grid/grid.js";
import { Scalar } from "../../set/scalar.js";
import { getOrMake } from "../entry.js";
import { footprintOf, neededOf } from "./footprint.js";
import { fusionGroup, type FusionGroup, type GroupedContainer, type FusionRefusal } from "./group.js";
import { MergedContainers } from "./merged.js";
import type { Buffers } from "./merge.js";
import type { Pair } from "./sequence.js";

/*
 * Fusion of containers: which of a sequence run as one kernel. Values pass from one to the next in registers, so that memory is
 * read and written less often; strict results keep their bits.
 */

export interface FusionOptions {
  /** Fields whose values nobody needs after the sequence: what it writes there need not reach memory. */
  temporary?: Iterable<Field>;
  /** Second buffers of other sequences that take turns with this one, by what they are of; new ones are added. */
  spares?: Map<Field | Scalar, Field | Scalar>;
  /** Merged containers of these other sequences; new ones are added. */
  merged?: MergedContainers;
}

export interface Fusion {
  /** Containers that run in place of the sequence. */
  readonly containers: readonly Container[];
  /** Pairs of a field or scalar and its second buffer, to be swapped after each run: the new values lie in the buffer. */
  readonly swaps: readonly Pair[];
  /** The second buffers, to be freed when the sequence is no longer run. */
  readonly buffers: readonly (Field | Scalar)[];
  readonly groups: readonly FusionGroup[];
  /** Bytes that pass between memory and processor, for each cell. */
  readonly bytes: { readonly before: number; readonly after: number };
  /** Decisions and their reasons, a line each. */
  readonly remarks: readonly string[];
}

/**
 * Groups the containers so that a run takes the least time by the count of bytes and operations. Independent containers may change places; a
 * container whose results are temporary may run again in a later group; values of neighbours that the same group writes are computed
 * where they are needed; and where a group reads neighbours of a field that it writes, the field gets a second buffer.
 */
export function fuse(
  containers: readonly Container[],
  { temporary = [], spares, merged: known = new MergedContainers() }: FusionOptions = {},
): Fusion {
  const sequence = new Sequence(containers, new Set(temporary));
  const groups = new Planner(sequence).plan();
  const second = new SecondBuffers(spares);
  const before = containers.map((container, stage) => alone({ stage, container, again: false }).bytes).reduce((a, b) => a + b, 0);
  const after = groups.reduce((sum, group) => sum + group.bytes, 0);
  const merged = groups.map((group) => known.of(group, second.around(group)));
  for (const container of merged) container.grid.requireStencils(container);
  return {
    containers: merged,
    swaps: second.swaps,
    buffers: second.all,
    groups,
    bytes: { before, after },
    remarks: [
      ...groups.flatMap(reasonsOf),
      ...apart(groups),
      groups.length < containers.length
        ? `${after} instead of ${before} bytes a cell pass between memory and processor`
        : `${before} bytes a cell pass between memory and processor; fusion would not save any`,
    ],
  };
}

/** A group of one container. */
function alone(part: GroupedContainer): FusionGroup {
  const group = fusionGroup([part], new Set());
  if ("reason" in group) throw new Error(`container "${part.container.name}" cannot form a group: ${group.reason}`);
  return group;
}

/** The containers in order, and what depends on what. */
class Sequence {
  /** For each container, those before it that it may not overtake. */
  readonly before: readonly ReadonlySet<number>[];
  private readonly inputsOf = new Map<number, readonly Field[]>();
  private readonly producersOf = new Map<Field, Map<number, readonly number[]>>();

  constructor(
    readonly containers: readonly Container[],
    readonly temporary: ReadonlySet<Field>,
  ) {
    this.before = containers.map(
      (_, stage) => new Set(Array.from({ length: stage }, (_, other) => other).filter((other) => this.conflict(other, stage))),
    );
  }

  /** Containers that give the values of the field that `stage` needs from before: of each component, the last one that writes it. */
  producers(stage: number, field: Field): readonly number[] {
    const known = getOrMake(this.producersOf, field, () => new Map<number, readonly number[]>());
    return getOrMake(known, stage, () => {
      const touch = this.touches(stage).get(field);
      const last = [...(touch ? neededOf(touch) : [])].map((k) => {
        let other = stage - 1;
        while (other >= 0 && !this.touches(other).get(field)?.written.has(k)) other--;
        return other;
      });
      return [...new Set(last)].filter((other) => other >= 0);
    });
  }

  /** Names what a container leaves in a field. */
  value(stage: number, field: Field): number {
    return stage + this.containers.length * [...this.temporary].indexOf(field);
  }

  writes(stage: number, field: Field): boolean {
    return (this.touches(stage).get(field)?.written.size ?? 0) > 0;
  }

  /** Fields whose earlier values the container needs. */
  inputs(stage: number): readonly Field[] {
    return getOrMake(this.inputsOf, stage, () =>
      [...this.touches(stage).values()].filter((touch) => neededOf(touch).size > 0).map((touch) => touch.field),
    );
  }

  touches(stage: number) {
    return footprintOf(this.containers[stage]).touches;
  }

  private conflict(first: number, second: number): boolean {
    for (const [field, touch] of this.touches(second)) {
      const other = this.touches(first).get(field);
      if (other && (other.written.size > 0 || touch.written.size > 0)) return true;
    }
    const [a, b] = [this.containers[first], this.containers[second]];
    if (particlesConflict(a, b) || particlesConflict(b, a)) return true;
    if (axisFoldsConflict(a, b) || axisFoldsConflict(b, a)) return true;
    const scalars = (container: Container) => [...container.scalars.values(), ...resultsOf(container)];
    return resultsOf(a).some((scalar) => scalars(b).includes(scalar)) || resultsOf(b).some((scalar) => scalars(a).includes(scalar));
  }
}

/** One reduces into an array along axes that the other uses. */
function axisFoldsConflict({ axisFolds = [] }: Container, other: Container): boolean {
  const used = [...(other.axisArrays?.values() ?? []), ...(other.axisFolds ?? []).map(({ array }) => array)];
  return axisFolds.some(({ array }) => used.includes(array));
}

/** One changes what the other finds of the particles: a column, or which cells they are in. */
function particlesConflict(changing: Container, other: Container): boolean {
  const { particles } = changing;
  if (particles?.moves && other.particles?.needsSort && other.particles.species === particles.species) return true;
  const used = new Set([...(other.arrays?.values() ?? [])].map(({ array }) => array));
  return [...(changing.arrays?.values() ?? [])].some(({ array, written }) => written && used.has(array));
}

/** Containers that are looked at together, so that the search stays short. */
const WINDOW = 10;
/** Bytes that a device moves in the time that a launch takes. */
const LAUNCH_BYTES = 5e6;
/** Operations that a device does in the time of a byte, where it does not tell. */
const DEFAULT_BALANCE = 8;

/** Bytes that pass between caches and registers in the time of one from memory: on an H100, where stencils of 7 and 14 values were measured. */
const CACHE_BALANCE = 3.5;

/** How far a plan has come. */
interface State {
  readonly done: ReadonlySet<number>;
  /** Temporaries that were not stored, see `Sequence.value`. */
  readonly unstored: ReadonlySet<number>;
}

interface Plan {
  readonly cost: number;
  readonly groups: readonly FusionGroup[];
}

class Planner {
  private readonly balance: number;
  private readonly launch: number;
  /** Groups that were looked at, by containers and by fields that are not stored. */
  private readonly groups = new Map<string, FusionGroup | FusionRefusal>();

  constructor(private readonly sequence: Sequence) {
    const grid = sequence.containers[0]?.grid;
    const peaks = grid?.set.locals[0].device.theoretical;
    this.balance = peaks?.flops && peaks.bandwidth ? peaks.flops / peaks.bandwidth : DEFAULT_BALANCE;
    this.launch = grid ? LAUNCH_BYTES / Math.max(1, ...grid.partitions.map((partition) => partition.cells)) : 0;
  }

  /** The best plan for a short sequence; for a long one, group by group the beginning of the best plan for what comes next. */
  plan(): FusionGroup[] {
    const groups: FusionGroup[] = [];
    let state: State = { done: new Set(), unstored: new Set() };
    for (;;) {
      const left = [...this.sequence.containers.keys()].filter((stage) => !state.done.has(stage));
      if (left.length === 0) return groups;
      const best = this.best(state, left.slice(0, WINDOW), new Map());
      const taken = left.length <= WINDOW ? best.groups : best.groups.slice(0, 1);
      groups.push(...taken);
      state = taken.reduce((before, group) => this.after(before, group), state);
    }
  }

  /** The cheapest way to run the containers of a window. */
  private best(state: State, window: readonly number[], known: Map<string, Plan>): Plan {
    const left = window.filter((stage) => !state.done.has(stage));
    if (left.length === 0) return { cost: 0, groups: [] };
    const key = `${left.join()} ${[...state.unstored].sort((a, b) => a - b).join()}`;
    let best = known.get(key);
    if (best) return best;
    best = { cost: Infinity, groups: [] };
    for (const group of this.candidates(state, left)) {
      const rest = this.best(this.after(state, group), window, known);
      const cost = this.costOf(group) + rest.cost;
      if (cost < best.cost) best = { cost, groups: [group, ...rest.groups] };
    }
    known.set(key, best);
    return best;
  }

  private costOf({ bytes, cached, flops }: FusionGroup): number {
    return Math.max(bytes, cached / CACHE_BALANCE, flops / this.balance) + this.launch;
  }

  private after({ done, unstored }: State, group: FusionGroup): State {
    const own = group.parts.filter((part) => !part.again).map((part) => part.stage);
    const kept = own.flatMap((stage) => [...group.unstored].map((field) => this.sequence.value(stage, field)));
    return { done: new Set([...done, ...own]), unstored: new Set([...unstored, ...kept]) };
  }

  /** Groups that may come next: containers that depend on nothing but each other and what is done. */
  private candidates(state: State, left: readonly number[]): FusionGroup[] {
    const found: FusionGroup[] = [];
    const missing = left.map((stage) => [...this.sequence.before[stage]].filter((other) => !state.done.has(other)));
    const extend = (stages: readonly number[], from: number): void => {
      for (let n = from; n < left.length; n++) {
        if (!missing[n].every((stage) => stages.includes(stage))) continue;
        const more = [...stages, left[n]];
        const variants = this.variants(state, more, left);
        found.push(...variants);
        if (variants.length > 0) extend(more, n + 1);
      }
    };
    extend([], 0);
    return found;
  }

  /** The containers as a group: with all results stored, and with temporaries left out. */
  private variants(state: State, stages: readonly number[], left: readonly number[]): readonly FusionGroup[] {
    if (this.sequence.temporary.size === 0) return this.possible(stages, [], new Set());
    const again = this.again(state, stages);
    if (!again) return [];
    const written = (list: readonly number[]) =>
      new Set([...this.sequence.temporary].filter((field) => list.some((stage) => this.sequence.writes(stage, field))));
    const [own, repeated] = [written(stages), written(again)];
    if ([...own].some((field) => repeated.has(field))) return [];
    const readers = new Map([...own].map((field) => [field, this.readersOf(stages, field)]));
    const spent = new Set([...own].filter((field) => readers.get(field)!.length === 0));
    // Readers beyond the window are not planned yet: they need what was stored.
    const near = new Set([...own].filter((field) => readers.get(field)!.every((stage) => left.includes(stage))));
    return [spent, ...(spent.size < near.size ? [near] : [])].flatMap((unstored) =>
      this.possible(stages, again, new Set([...unstored, ...repeated])),
    );
  }

  /** The containers as a group, some of them run again; none if that is not possible. */
  private possible(stages: readonly number[], again: readonly number[], unstored: ReadonlySet<Field>): readonly FusionGroup[] {
    const temporaries = [...this.sequence.temporary].flatMap((field, n) => (unstored.has(field) ? [n] : []));
    const group = getOrMake(this.groups, `${stages.join()} ${again.join()} ${temporaries.join()}`, () => {
      const part = (stage: number, again: boolean): GroupedContainer => ({ stage, container: this.sequence.containers[stage], again });
      const parts = [...stages.map((stage) => part(stage, false)), ...again.map((stage) => part(stage, true))];
      return fusionGroup(
        parts.sort((a, b) => a.stage - b.stage),
        unstored,
      );
    });
    return "reason" in group ? [] : [group];
  }

  /** Containers outside of `stages` that read what one of them writes to the field. */
  private readersOf(stages: readonly number[], field: Field): number[] {
    const { sequence } = this;
    return [...sequence.containers.keys()].filter(
      (stage) => !stages.includes(stage) && sequence.producers(stage, field).some((producer) => stages.includes(producer)),
    );
  }

  /** Containers that must run again, so that `stages` find the temporaries that were not stored; undefined if that is not possible. */
  private again(state: State, stages: readonly number[]): number[] | undefined {
    const { sequence } = this;
    const found = new Set<number>();
    const visit = (reader: number): boolean =>
      sequence.inputs(reader).every((field) => {
        const producers = sequence.temporary.has(field) ? sequence.producers(reader, field) : [];
        return producers.every((producer) => {
          if (!state.unstored.has(sequence.value(producer, field)) || found.has(producer)) return true;
          found.add(producer);
          return this.repeatable(producer, state) && visit(producer);
        });
      });
    return stages.every(visit) ? [...found] : undefined;
  }

  /** True if a container gives the same temporaries again: it writes nothing else, and what it reads has not changed since. */
  private repeatable(stage: number, { done, unstored }: State): boolean {
    const { sequence } = this;
    const { scalars } = sequence.containers[stage];
    const later = [...done].filter((other) => other > stage);
    const unchanged =
      sequence.inputs(stage).every(
        (field) =>
          later.every((other) => !sequence.writes(other, field)) &&
          // Values that it has itself stored over its own input are gone.
          (!sequence.writes(stage, field) || unstored.has(sequence.value(stage, field))),
      ) && [...scalars.values()].every((scalar) => later.every((other) => !resultsOf(sequence.containers[other]).includes(scalar)));
    return (
      unchanged && [...sequence.touches(stage).values()].every((touch) => touch.written.size === 0 || sequence.temporary.has(touch.field))
    );
  }
}

/** Tracks the buffer, out of two, that holds the values of each field or scalar. */
class SecondBuffers {
  private readonly buffers = new Map<Field | Scalar, Field | Scalar>();
  private readonly swapped = new Set<Field | Scalar>();

  constructor(private readonly spares = new Map<Field | Scalar, Field | Scalar>()) {}

  /** The buffers before and after a group, which is the next to run. */
  around({ parts, second }: FusionGroup): Buffers {
    const place =
      (swapped: ReadonlySet<Field | Scalar>) =>
      <T extends Field | Scalar>(of: T): T =>
        swapped.has(of) ? (this.buffers.get(of) as T) : of;
    const before = new Set(this.swapped);
    for (const of of second) {
      const spare = () => getOrMake(this.spares, of, () => secondBuffer(of, parts[0].container.grid));
      getOrMake(this.buffers, of, spare);
      if (!this.swapped.delete(of)) this.swapped.add(of);
    }
    return { from: place(before), to: place(new Set(this.swapped)) };
  }

  get all(): (Field | Scalar)[] {
    return [...this.buffers.values()];
  }

  get swaps(): Pair[] {
    return [...this.swapped].map((of) => [of, this.buffers.get(of)!] as unknown as Pair);
  }
}

function secondBuffer(of: Field | Scalar, grid: Grid): Field | Scalar {
  const name = `${of.name}'`;
  if (of instanceof Scalar) return grid.scalar(name, { kind: "scalar", type: of.type }) as Scalar;
  const { type, cardinality, layout, fillValue, scale } = of;
  return of.grid.field(name, { type }, { cardinality, layout, fillValue: fillValue * scale, scale });
}

/** Why a group is as it is. */
function reasonsOf({ parts, inlined, unstored, second, bytes }: FusionGroup): string[] {
  if (parts.length === 1) return [];
  const name = parts.map((part) => part.container.name).join(" + ");
  const before = parts.filter((part) => !part.again).reduce((sum, part) => sum + alone(part).bytes, 0);
  return [
    `${name}: one kernel of ${bytes} bytes a cell instead of ${before}`,
    ...parts.filter((part) => part.again).map((part) => `${name}: "${part.container.name}" runs again, since its result was not stored`),
    ...[...unstored].map((field) => `${name}: ${field.name} is temporary and stays in registers`),
    ...inlined.map(
      ({ writer, reader, field, offsets }) =>
        `${name}: "${writer.container.name}" is computed for the ${offsets.length} neighbours, too, whose ${field.name} "${reader.container.name}" reads`,
    ),
    ...[...second].map(
      (of) =>
        `${name}: ${of.name} is written to a second buffer, because its ${of instanceof Scalar ? "old value is" : "neighbours are"} read`,
    ),
  ];
}

/** Why neighbouring groups are not one. */
function apart(groups: readonly FusionGroup[]): string[] {
  return groups.slice(1).map((next, n) => {
    const group = groups[n];
    const parts = [...group.parts, ...next.parts.filter((part) => !group.parts.some((other) => other.stage === part.stage))];
    const both = fusionGroup(
      parts.sort((a, b) => a.stage - b.stage),
      new Set([...group.unstored, ...next.unstored]),
    );
    const [a, b] = [group, next].map(({ parts: list }) => `"${list.map((part) => part.container.name).join(" + ")}"`);
    const saved = "reason" in both ? both.reason : `one kernel would take ${both.bytes} bytes a cell, two take ${group.bytes + next.bytes}`;
    return `${a} and ${b} stay apart: ${saved}`;
  });
}
