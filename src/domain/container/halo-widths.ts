import { affineOf, isConstant } from "../../ir/analysis/affine.js";
import type { KernelIR } from "../../ir/types.js";
import { walkExprs } from "../../ir/walk.js";
import { offsetsIn } from "./cell-code.js";
import type { Container, FieldUse, Field } from "../grid/grid.js";
import type { Offset } from "../grid/parts.js";

/** Planes of the partitions below and above that stencils read. */
interface Widths {
  below: number;
  above: number;
}

/** How far stencils read each component of each field across the planes of the last axis. */
export class HaloWidths {
  private readonly all: Widths = { below: 0, above: 0 };
  private readonly fields = new WeakMap<Field, Widths[]>();

  /** Every component of every field is read at this offset; true if that is more than before. */
  note(offset: Offset): boolean {
    return widen(this.all, offset);
  }

  /** Two fields are exchanged, so that one's halos will be read as the other's; gives those for which that is more than before. */
  unite(a: Field, b: Field): Field[] {
    const [ofA, ofB] = [this.of(a), this.of(b)];
    const takeIn = (widths: readonly Widths[], others: readonly Widths[]): boolean =>
      widths.filter((own, k) => raise(own, others[k].below, others[k].above)).length > 0;
    return [...(takeIn(ofA, ofB) ? [a] : []), ...(takeIn(ofB, ofA) ? [b] : [])];
  }

  /**
   * Notes what the code of a container reads of one field; true if that is more than before.
   * @param reached the offset of the field's own grid that an access reads at most
   */
  noteUse(container: Container, { param, field }: FieldUse, reached: (offset: Offset) => Offset): boolean {
    let more = false;
    const widths = this.of(field);
    for (const { offset, component } of readsOf(container).get(param) ?? []) {
      const read = component === undefined ? widths : widths.slice(component, component + 1);
      for (const width of read) more = widen(width, reached(offset)) || more;
    }
    return more;
  }

  /** Widths of one component, or of all taken together if `component` is absent. */
  get(field: Field, component?: number): Readonly<Widths> {
    const of = component === undefined ? this.of(field) : [this.of(field)[component]];
    const most = (side: keyof Widths): number => of.reduce((width, each) => Math.max(width, each[side]), this.all[side]);
    return { below: most("below"), above: most("above") };
  }

  private of(field: Field): Widths[] {
    const known = this.fields.get(field) ?? Array.from({ length: field.cardinality }, () => ({ below: 0, above: 0 }));
    this.fields.set(field, known);
    return known;
  }
}

/** A value of a field that code reads; the component is undefined if it is not constant. */
interface Read {
  readonly offset: Offset;
  readonly component: number | undefined;
}

const reads = new WeakMap<KernelIR, ReadonlyMap<string, readonly Read[]>>();

/** Reads of cells by a container's code, by view parameter. */
function readsOf({ ir, uses }: Container): ReadonlyMap<string, readonly Read[]> {
  let found = reads.get(ir);
  if (!found) reads.set(ir, (found = findReads(ir, new Map(uses.map(({ param }) => [param, []])))));
  return found;
}

function findReads(ir: KernelIR, found: ReadonlyMap<string, Read[]>): ReadonlyMap<string, readonly Read[]> {
  const offsetOf = offsetsIn(ir);
  walkExprs(ir.body, (node) => {
    const reads = node.op === "load" ? found.get(node.view) : undefined;
    if (node.op !== "load" || !reads) return;
    const component = affineOf(node.indices.at(-1)!);
    reads.push({
      offset: offsetOf(node.view, node.indices),
      component: component && isConstant(component) ? component.constant : undefined,
    });
  });
  return found;
}

const widen = (widths: Widths, offset: Offset): boolean => raise(widths, -offset.at(-1)!, offset.at(-1)!);

/** True if that makes them wider. */
function raise(widths: Widths, toBelow: number, toAbove: number): boolean {
  const { below, above } = widths;
  widths.below = Math.max(below, toBelow);
  widths.above = Math.max(above, toAbove);
  return widths.below > below || widths.above > above;
}
