import type { View } from "../../device/memory/view.js";
import { Field, type GridSpecies } from "../../domain/grid/grid.js";
import type { MemberArray } from "../../domain/grid/parts.js";
import { localOf, type DeviceSet, type Scalar } from "../../set/index.js";

/** Objects with memory on each member. */
type Kept = Field | Scalar | MemberArray;

/** Copies on the devices of what a sequence changes, so that it can run and leave no trace. */
export class StateSnapshot {
  private readonly copies: { readonly of: Kept; readonly views: View[] }[] = [];
  private readonly flags: readonly { readonly field: Field; readonly defined: boolean; readonly coherent: boolean }[];
  private readonly sorted: readonly { readonly of: GridSpecies; readonly coherent: boolean }[];

  /** Enqueues the copies in stream 0 of each member. Throws DeviceError if memory does not suffice. */
  constructor(
    private readonly set: DeviceSet,
    changed: Iterable<Field | Scalar | MemberArray>,
    species: readonly GridSpecies[] = [],
  ) {
    const all: Kept[] = [...changed, ...species.flatMap((of) => [...of.kept, of.first, of.count])];
    this.sorted = species.map((of) => ({ of, coherent: of.coherent }));
    this.flags = all.filter((of) => of instanceof Field).map((field) => ({ field, defined: field.defined, coherent: field.coherent }));
    try {
      for (const of of all) this.copy(of);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** Brings the contents back, in stream 0 of each member, to where fields and scalars lie now. */
  restore(): void {
    for (const { of, views } of this.copies) memoryOf(of).forEach((view, m) => localOf(this.set, m).queue(0).copy(views[m], view));
    for (const { field, defined, coherent } of this.flags) [field.defined, field.coherent] = [defined, coherent];
    for (const { of, coherent } of this.sorted) of.coherent = coherent;
  }

  free(): void {
    for (const { views } of this.copies) views.forEach((view) => view.free());
  }

  private copy(of: Kept): void {
    const memory = memoryOf(of);
    const views = Array<View>(memory.length);
    this.copies.push({ of, views });
    memory.forEach((view, m) => {
      const member = localOf(this.set, m);
      views[m] = member.device.array({ type: view.type as Exclude<View["type"], "bool"> }, view.shape);
      member.queue(0).copy(view, views[m]);
    });
  }
}

const memoryOf = (of: Kept): readonly View[] => (of instanceof Field ? of.storage : of.views);
