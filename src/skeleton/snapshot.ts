import type { View } from "../device/view.js";
import { Field } from "../domain/field.js";
import type { DeviceSet, Scalar } from "../set/index.js";

/** Copies on the devices of what a sequence changes, so that it can run and leave no trace. */
export class Snapshot {
  private readonly copies: { readonly of: Field | Scalar; readonly views: View[] }[] = [];
  private readonly flags: readonly { readonly field: Field; readonly defined: boolean; readonly coherent: boolean }[];

  /** Enqueues the copies in stream 0 of each member. Throws DeviceError where memory does not suffice. */
  constructor(
    private readonly set: DeviceSet,
    changed: Iterable<Field | Scalar>,
  ) {
    const all = [...changed];
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
    for (const { of, views } of this.copies) memoryOf(of).forEach((view, m) => this.set.members[m].queue(0).copy(views[m], view));
    for (const { field, defined, coherent } of this.flags) [field.defined, field.coherent] = [defined, coherent];
  }

  free(): void {
    for (const view of this.copies.flatMap(({ views }) => views)) view.free();
  }

  private copy(of: Field | Scalar): void {
    const views: View[] = [];
    this.copies.push({ of, views });
    memoryOf(of).forEach((view, m) => {
      const { device } = this.set.members[m];
      views.push(device.array({ type: view.type as Exclude<View["type"], "bool"> }, view.shape));
      this.set.members[m].queue(0).copy(view, views[m]);
    });
  }
}

const memoryOf = (of: Field | Scalar): readonly View[] => (of instanceof Field ? of.storage : of.views);
