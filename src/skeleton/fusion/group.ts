import { prints } from "../../ir/print-records.js";
import { BYTES, isHalf } from "../../ir/scalars.js";
import { Field, type Container, type Grid } from "../../domain/grid/grid.js";
import { isAny } from "../../domain/grid/ghosts.js";
import type { Offset } from "../../domain/grid/parts.js";
import { sizeOf, walkExprs } from "../../ir/walk.js";
import type { Scalar } from "../../set/scalar.js";
import { getOrMake } from "../entry.js";
import { footprintOf, meet, type Touch } from "./footprint.js";
import { keepsFillValue } from "./fill-value.js";

/** Fields whose values a container reads, its own stores included. */
function loadedFields({ ir, uses }: Container): Field[] {
  const views = new Set<string>();
  walkExprs(ir.body, (node) => void (node.op === "load" && views.add(node.view)));
  return uses.filter(({ param }) => views.has(param)).map(({ field }) => field);
}

/** A container in a group. */
export interface GroupedContainer {
  /** Its number in the sequence. */
  readonly stage: number;
  readonly container: Container;
  /** It has run before, and runs again only to give the temporaries that were not stored. */
  readonly again: boolean;
}

/** A neighbour's value that a reader computes for itself, because the writer runs in the same kernel. */
export interface Inline {
  readonly reader: GroupedContainer;
  readonly writer: GroupedContainer;
  readonly field: Field;
  readonly offsets: readonly (readonly number[])[];
}

/** Containers that may run as one, in the order of the sequence, and what that takes. */
export interface FusionGroup {
  readonly parts: readonly GroupedContainer[];
  readonly inlined: readonly Inline[];
  /** Temporaries that stay in registers. */
  readonly unstored: ReadonlySet<Field>;
  /**
   * Fields whose neighbours are read and whose cells are written, and scalars that are read and then take another result: what is new goes
   * to a second buffer.
   */
  readonly second: ReadonlySet<Field | Scalar>;
  /** Between memory and processor, for each cell. */
  readonly bytes: number;
  /** Between caches and registers: neighbours' values count each time. */
  readonly cached: number;
  readonly flops: number;
}

/** Why containers cannot run as one. */
export interface FusionRefusal {
  readonly reason: string;
}

/** Most statements and expressions that are repeated for the sake of neighbours. */
const MAX_REPEATED = 4000;

/** The parts as one group, if no cell's result depends on whether another cell has been computed. `parts` are in the order of the sequence. */
export function fusionGroup(parts: readonly GroupedContainer[], unstored: ReadonlySet<Field>): FusionGroup | FusionRefusal {
  const builder = new Builder(unstored);
  for (const part of parts) {
    const reason = builder.take(part);
    if (reason !== undefined) return { reason };
  }
  const group = builder.group();
  const left = [...group.second].find((of) => of instanceof Field && isAny(of.grid.ghosts));
  return left ? { reason: `neighbours of ${left.name} are read and its cells written, and ghosts have no second buffer` } : group;
}

class Builder {
  private readonly parts: GroupedContainer[] = [];
  private readonly inlined: Inline[] = [];
  private readonly writers = new Map<Field, GroupedContainer[]>();
  /** By field, components whose values from before the group are read in neighbours. */
  private readonly around = new Map<Field, Set<number>>();
  private readonly reducedBy = new Map<Scalar, GroupedContainer>();
  private readonly scalarReaders = new Set<Scalar>();
  /** Components of fields that are in registers, read or written. */
  private readonly held = new Map<Field, Set<number>>();
  private bytes = 0;
  /** Bytes of neighbours' values. */
  private neighboursBytes = 0;
  private flops = 0;

  constructor(private readonly unstored: ReadonlySet<Field>) {}

  /** Adds a part; the reason where that is not possible. */
  take(part: GroupedContainer): string | undefined {
    const reason =
      this.step(part) ??
      this.grid(part) ??
      this.box(part) ??
      this.spread(part) ??
      this.particles(part) ??
      this.rounds(part) ??
      this.march(part) ??
      this.prints(part) ??
      this.scalars(part) ??
      this.rounding(part) ??
      this.neighbours(part);
    if (reason !== undefined) return reason;
    const { touches, flops } = footprintOf(part.container);
    this.flops += flops;
    for (const touch of touches.values()) {
      this.transfer(touch.field, [...touch.around, ...touch.old]);
      if (!this.inlined.some(({ reader, field }) => reader === part && field === touch.field))
        this.neighboursBytes += touch.values * BYTES[touch.field.type];
      if (touch.written.size === 0) continue;
      this.transfer(touch.field, [], touch.written);
      if (!part.again || this.unstored.has(touch.field)) this.writers.set(touch.field, [...(this.writers.get(touch.field) ?? []), part]);
    }
    this.parts.push(part);
    return undefined;
  }

  /** A float of 16 bits is rounded by memory, through which a value in a fused kernel does not go. */
  private rounding(part: GroupedContainer): string | undefined {
    if (this.parts.length === 0) return undefined;
    const all = [...this.parts, part].map(({ container }) => container);
    const stored = new Set(all.flatMap(({ uses }) => uses.filter(({ written }) => written)).map(({ field }) => field));
    const read = all.flatMap(loadedFields).find((field) => isHalf(field.type) && stored.has(field));
    return read && `${read.name} is stored as ${read.type}, which rounds what is read from it`;
  }

  group(): FusionGroup {
    const stored = [...this.writers].filter(([field, writers]) => !this.unstored.has(field) && writers.some((part) => !part.again));
    const renewed = [...this.reducedBy.keys()].filter((scalar) => this.scalarReaders.has(scalar));
    const second = new Set<Field | Scalar>(renewed);
    let { bytes } = this;
    for (const [field, writers] of stored) {
      const written = new Set(writers.flatMap((part) => [...footprintOf(part.container).touches.get(field)!.written]));
      const around = this.around.get(field);
      // One container alone has been found to keep what it writes apart from the neighbours that it reads.
      const isSecond = this.parts.length > 1 && around !== undefined && meet(written, around);
      if (isSecond) second.add(field);
      // The second buffer takes all components, also those that nothing else in the group touches.
      const copied = field.cardinality - (this.held.get(field)?.size ?? 0);
      bytes += (isSecond ? field.cardinality + copied : written.size) * BYTES[field.type];
    }
    return {
      parts: this.parts,
      inlined: this.inlined,
      unstored: this.unstored,
      second,
      bytes,
      cached: bytes + this.neighboursBytes,
      flops: this.flops,
    };
  }

  private step(part: GroupedContainer): string | undefined {
    if (this.parts.length === 0) return undefined;
    const step = [...this.parts, part].find(({ container }) => container.assigned);
    return step && `"${step.container.name}" runs once, not for each cell`;
  }

  private grid({ container }: GroupedContainer): string | undefined {
    const [first] = this.parts;
    return first && first.container.grid !== container.grid
      ? `"${first.container.name}" and "${container.name}" run over different grids`
      : undefined;
  }

  private box(part: GroupedContainer): string | undefined {
    if (this.parts.length === 0) return undefined;
    const within = [...this.parts, part].find(({ container }) => container.box);
    return within && `"${within.container.name}" runs on ${within.container.box!.name} only`;
  }

  private march(part: GroupedContainer): string | undefined {
    if (this.parts.length === 0) return undefined;
    const marching = [...this.parts, part].find(({ container }) => container.march);
    return marching && `"${marching.container.name}" marches along an axis`;
  }

  /** Refuses printing containers, as fused ones may be computed again for neighbours. */
  private prints(part: GroupedContainer): string | undefined {
    if (this.parts.length === 0) return undefined;
    const printing = [...this.parts, part].find(({ container }) => prints(container.ir.body));
    return printing && `"${printing.container.name}" prints`;
  }

  private spread(part: GroupedContainer): string | undefined {
    if (this.parts.length === 0) return undefined;
    const writer = [...this.parts, part].find(({ container }) => [...footprintOf(container).touches.values()].some(({ spread }) => spread));
    return writer && `"${writer.container.name}" writes cells other than its own`;
  }

  private particles(part: GroupedContainer): string | undefined {
    if (this.parts.length === 0) return undefined;
    const overParticles = [...this.parts, part].find(({ container }) => container.arrays);
    return overParticles && `"${overParticles.container.name}" loops over the particles of each cell`;
  }

  private rounds(part: GroupedContainer): string | undefined {
    if (this.parts.length === 0) return undefined;
    const inRounds = [...this.parts, part].find(({ container }) => container.inRounds);
    return inRounds && `"${inRounds.container.name}" ${inRounds.container.axisFolds ? "reduces along axes" : "copies between members"}`;
  }

  private scalars(part: GroupedContainer): string | undefined {
    const { name, scalars, reductions } = part.container;
    for (const scalar of scalars.values()) {
      const by = this.reducedBy.get(scalar);
      if (by) return `"${name}" reads ${scalar.name}, the result of "${by.container.name}" over all cells`;
      this.scalarReaders.add(scalar);
    }
    if (part.again) return undefined;
    for (const scalar of reductions.values()) {
      const by = this.reducedBy.get(scalar);
      if (by) return `"${by.container.name}" and "${name}" both put a result into ${scalar.name}`;
    }
    for (const scalar of reductions.values()) this.reducedBy.set(scalar, part);
    return undefined;
  }

  private neighbours(part: GroupedContainer): string | undefined {
    for (const touch of footprintOf(part.container).touches.values()) {
      if (touch.foreign || touch.spread || touch.offsets.length === 0) continue;
      const writers = this.writersOf(touch.field, touch.around);
      const reason = writers.length > 0 ? this.inline(part, touch, writers) : undefined;
      if (reason !== undefined)
        return `"${part.container.name}" reads neighbours of ${touch.field.name}, which "${writers[0].container.name}" writes, and ${reason}`;
      if (writers.length === 0) this.readAround(touch.field, touch.around);
    }
    return undefined;
  }

  /** Parts so far that write one of the components. */
  private writersOf(field: Field, components: ReadonlySet<number>): readonly GroupedContainer[] {
    const writers = this.writers.get(field) ?? [];
    return writers.filter(({ container }) => meet(components, footprintOf(container).touches.get(field)!.written));
  }

  private readAround(field: Field, components: Iterable<number>): void {
    const known = getOrMake(this.around, field, () => new Set<number>());
    for (const k of components) known.add(k);
  }

  /** Lets the reader compute the neighbours' values for itself; the reason where it cannot. */
  private inline(reader: GroupedContainer, { field, offsets, around }: Touch, writers: readonly GroupedContainer[]): string | undefined {
    const [writer, another] = writers;
    const { container } = writer;
    const { touches, flops } = footprintOf(container);
    if (another) return `"${another.container.name}" writes it too`;
    const inputs = [...touches.values()].filter((touch) => touch.old.size > 0);
    if ([...touches.values()].some((touch) => touch.foreign || touch.offsets.length > 0))
      return `"${container.name}" itself reads neighbours`;
    if (container.mask) return `"${container.name}" asks which cells are active`;
    for (const touch of inputs) {
      const before = this.writersOf(touch.field, touch.old).find((part) => part.stage < writer.stage);
      if (before) return `"${container.name}" reads ${touch.field.name}, which "${before.container.name}" writes`;
    }
    if (offsets.length * sizeOf(container.ir.body) > MAX_REPEATED)
      return `"${container.name}" is too long to be repeated for ${offsets.length} neighbours`;
    if (entersGhosts(container.grid, offsets)) return `neighbours beyond the sides are ghosts`;
    if (leavesDomain(container.grid, offsets) && !keepsFillValue(container, field))
      return `"${container.name}" would give cells outside the domain values other than ${field.fillValue}`;
    for (const touch of inputs) this.readAround(touch.field, touch.old);
    const { written } = touches.get(field)!;
    this.readAround(
      field,
      [...around].filter((k) => !written.has(k)),
    );
    this.flops += flops * offsets.length;
    for (const touch of inputs) this.neighboursBytes += offsets.length * touch.old.size * BYTES[touch.field.type];
    this.inlined.push({ reader, writer, field, offsets });
    return undefined;
  }

  /** Counts what is read from memory, and notes what is in registers from now on. */
  private transfer(field: Field, read: Iterable<number>, written: Iterable<number> = []): void {
    const held = this.held.get(field) ?? new Set();
    this.held.set(field, held);
    for (const k of new Set(read)) if (!held.has(k)) this.bytes += BYTES[field.type];
    for (const k of [...read, ...written]) held.add(k);
  }
}

/** True where the offsets lead from some cell to a ghost. */
const entersGhosts = ({ ghosts }: Grid, offsets: readonly Offset[]): boolean =>
  offsets.some((offset) => offset.some((d, axis) => (d < 0 && ghosts[axis][0] > 0) || (d > 0 && ghosts[axis][1] > 0)));

/** True where the offsets lead from some active cell to none. */
const leavesDomain = ({ mask, periodic }: Grid, offsets: readonly Offset[]): boolean =>
  mask !== undefined || offsets.some((offset) => offset.some((d, axis) => d !== 0 && !periodic[axis]));
