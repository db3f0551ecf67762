import { derive } from "../../cache/derive.js";
import { affineOf, isConstant } from "../../ir/analysis/affine.js";
import type { KernelIR } from "../../ir/types.js";
import { walkExprs } from "../../ir/walk.js";
import { offsetsIn } from "./cell-code.js";
import type { Container, FieldUse, Field } from "../grid/grid.js";
import type { Offset } from "../grid/parts.js";

/** Planes of the partitions below and above that stencils read. */
interface Widths {
  readonly below: number;
  readonly above: number;
}

/** A direction across the cut axes of a grid. */
export interface HaloSide {
  readonly y: -1 | 0 | 1;
  readonly z: -1 | 0 | 1;
}

/** Cells along y and z that stencils read on a side; both are 0 where none does, and one along a face. */
export type SideWidths = readonly [y: number, z: number];

/** Sides of a box that is cut along y, and maybe z: faces and edges. */
export const BOX_SIDES: readonly HaloSide[] = ([-1, 0, 1] as const).flatMap((z) =>
  ([-1, 0, 1] as const).flatMap((y) => (y === 0 && z === 0 ? [] : [{ y, z }])),
);

/** How far stencils read each component of each field across the borders of partitions. */
export class HaloWidths {
  private readonly all: number[];
  private readonly fields = new WeakMap<Field, number[][]>();

  /** @param alongY the grid is cut along y, so that sides other than below and above matter, too */
  constructor(private readonly alongY: boolean) {
    this.all = this.none();
  }

  /** Every component of every field is read at this offset; true if that is more than before. */
  note(offset: Offset): boolean {
    return raise(this.all, this.reachOf(offset));
  }

  /** Two fields are exchanged, so that one's halos will be read as the other's; gives those for which that is more than before. */
  unite(a: Field, b: Field): Field[] {
    const [ofA, ofB] = [this.of(a), this.of(b)];
    const takeIn = (widths: readonly number[][], others: readonly number[][]): boolean =>
      widths.filter((own, k) => raise(own, others[k])).length > 0;
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
      for (const width of read) more = raise(width, this.reachOf(reached(offset))) || more;
    }
    return more;
  }

  /** Widths of one component, or of all taken together if `component` is absent. */
  get(field: Field, component?: number): Widths {
    return { below: this.most(field, component, 0), above: this.most(field, component, 1) };
  }

  /** The same on a side of a grid that is cut along y. */
  onSide(field: Field, side: HaloSide, component?: number): SideWidths {
    const place = 2 + 2 * BOX_SIDES.findIndex(({ y, z }) => y === side.y && z === side.z);
    return [this.most(field, component, place), this.most(field, component, place + 1)];
  }

  private most(field: Field, component: number | undefined, place: number): number {
    const of = component === undefined ? this.of(field) : [this.of(field)[component]];
    return of.reduce((width, each) => Math.max(width, each[place]), this.all[place]);
  }

  /** How far an offset reaches: below and above, then along y and z on each side of `BOX_SIDES` to which it leads. */
  private reachOf(offset: Offset): number[] {
    const dz = offset.at(-1)!;
    const ends = [Math.max(0, -dz), Math.max(0, dz)];
    if (!this.alongY) return ends;
    const dy = offset[1];
    const sides = BOX_SIDES.flatMap(({ y, z }) => {
      const leads = (y === 0 || y * dy > 0) && (z === 0 || z * dz > 0);
      return leads ? [Math.abs(y * dy), Math.abs(z * dz)] : [0, 0];
    });
    return [...ends, ...sides];
  }

  private none(): number[] {
    return Array<number>(this.alongY ? 2 + 2 * BOX_SIDES.length : 2).fill(0);
  }

  private of(field: Field): number[][] {
    const known = this.fields.get(field) ?? Array.from({ length: field.cardinality }, () => this.none());
    this.fields.set(field, known);
    return known;
  }
}

/** A value of a field that code reads; the component is undefined if it is not constant. */
interface Read {
  readonly offset: Offset;
  readonly component: number | undefined;
}

/** Reads of cells by a container's code, by view parameter. */
const readsOf = ({ ir, uses }: Container): ReadonlyMap<string, readonly Read[]> =>
  derive(
    ir,
    findReads,
    uses.map(({ param }) => param),
  );

function findReads(ir: KernelIR, params: readonly string[]): ReadonlyMap<string, readonly Read[]> {
  const found = new Map(params.map((param): [string, Read[]] => [param, []]));
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

/** True if that makes them wider. */
function raise(widths: number[], others: readonly number[]): boolean {
  let more = false;
  others.forEach((width, n) => {
    if (width <= widths[n]) return;
    widths[n] = width;
    more = true;
  });
  return more;
}
