import type { Device } from "../../device/device.js";
import { BYTES, View } from "../../device/memory/view.js";
import type { NumberElement } from "../../ir/types.js";
import { noMargins, type Margins } from "../grid/ghosts.js";
import type { FieldLayout } from "../grid/options.js";
import type { Span } from "../grid/parts.js";
import { allocate, componentStride } from "../grid/memory.js";

/** Bytes at whose multiples rows begin: two cache lines of CPUs, one of GPUs. */
const ROW_BYTES = 128;

/** The box of cells that one member stores, in the order of kernel axes: (z, y, x), or (y, x). */
export interface StoredBox {
  readonly extents: readonly number[];
  /** Cells around the box along each axis: halos along axes that are cut, cells with the fill value along the others. */
  readonly padding: readonly number[];
  /** Rows follow each other without padding: what lies beyond the ends of a row are cells of others. */
  readonly packed?: boolean;
  /** Axes along which the padding at each end has places of its own, because it holds ghosts or halos. Default: none. */
  readonly ghosted?: readonly boolean[];
  /** Cells before and after all others that code may load without using their values. Default: 0. */
  readonly spare?: number;
}

/** Properties that determine the place of a field's value in its box. */
export interface ValueLayout {
  readonly type: NumberElement;
  readonly cardinality: number;
  readonly layout: FieldLayout;
}

/**
 * Layout of the values of a dense box: `soa` as [k][z][y][x], `aos` as [z][y][x][k], with strides in elements.
 * The padding to the right of a row also serves the left of the next, and the padding after a plane also precedes the next, where it holds
 * no ghosts.
 */
export class DenseStorage {
  /** Elements from the start of memory to component 0 of cell 0. */
  readonly origin: number;
  /** Strides of the box's axes. */
  readonly strides: readonly number[];
  /** Stride of components. */
  readonly component: number;
  /** Elements in all. */
  readonly length: number;
  /** Elements from a cell to the next along x. */
  private readonly alongCell: number;

  constructor(
    readonly box: StoredBox,
    readonly values: ValueLayout,
  ) {
    const { type, cardinality, layout } = values;
    const { extents, padding, packed = false, spare = 0 } = box;
    const unit = ROW_BYTES / BYTES[type];
    const aligned = (length: number): number => Math.ceil(length / unit) * unit;
    const last = extents.length - 1;
    this.alongCell = layout === "aos" ? cardinality : 1;
    const strides = Array<number>(extents.length);
    strides[last] = this.alongCell;
    for (let axis = last - 1; axis >= 0; axis--) {
      const room = packed && axis === last - 1 ? 0 : padding[axis + 1] * (box.ghosted?.[axis + 1] ? 2 : 1);
      const line = (extents[axis + 1] + room) * strides[axis + 1];
      strides[axis] = axis === last - 1 ? aligned(line) : line;
    }
    this.strides = strides;
    const before = padding.reduce((sum, width, axis) => sum + width * strides[axis], 0);
    const planes = (extents[0] + 2 * padding[0]) * strides[0];
    const margin = aligned(Math.max(before - padding[0] * strides[0], spare * this.alongCell));
    this.origin = margin + padding[0] * strides[0];
    this.component = layout === "aos" ? 1 : componentStride(type, planes);
    this.length = margin + planes + (layout === "aos" ? 0 : (cardinality - 1) * this.component) + margin;
  }

  /** New zeroed memory. */
  allocate(device: Device): View {
    return allocate(device, this.values.type, this.length);
  }

  /** Elements from the start of memory to component `k` of the cell at local coordinates in kernel order, which may lie in the padding. */
  at(cell: readonly number[], k = 0): number {
    return cell.reduce((sum, n, axis) => sum + n * this.strides[axis], this.origin + k * this.component);
  }

  /** The box with its padding as kernels see it, indexed [k][z][y][x] or [z][y][x][k], without k for cardinality 1. */
  kernelView(memory: View): View {
    const { extents, padding } = this.box;
    const { type, cardinality, layout } = this.values;
    const shape = extents.map((n, axis) => n + 2 * padding[axis]);
    const offset = this.at(padding.map((width) => -width));
    const { strides, component } = this;
    if (cardinality === 1) return new View(memory.buffer, type, shape, strides, offset);
    return layout === "aos"
      ? new View(memory.buffer, type, [...shape, cardinality], [...strides, component], offset)
      : new View(memory.buffer, type, [cardinality, ...shape], [component, ...strides], offset);
  }

  /**
   * Planes [first, end) of cells, possibly with halos, as [z][y][x][k] whatever the layout; no z in 2D, no k for cardinality 1.
   * @param margins layers of padding along the other axes that are with them; negative ones leave cells out
   */
  window(memory: View, first: number, end: number, margins: Margins = noMargins(this.box.extents.length - 1)): View {
    const { type, cardinality } = this.values;
    const shape = [end - first, ...this.box.extents.slice(1).map((n, axis) => n + margins[axis][0] + margins[axis][1])];
    const offset = this.at([first, ...margins.map(([before]) => -before)]);
    if (cardinality === 1) return new View(memory.buffer, type, shape, this.strides, offset);
    return new View(memory.buffer, type, [...shape, cardinality], [...this.strides, this.component], offset);
  }

  /** The same planes as [k][z][y][x], in 2D with one z. */
  byComponent(memory: View, first: number, end: number, margins?: Margins): View {
    const { buffer, type, shape, strides, offset } = this.window(memory, first, end, margins);
    const axes = this.box.extents.length;
    const flat = Array<number>(3 - axes);
    const cells = [...flat.fill(1), ...shape.slice(0, axes)];
    const steps = [...flat.fill(0), ...strides.slice(0, axes)];
    return new View(buffer, type, [this.values.cardinality, ...cells], [this.component, ...steps], offset);
  }

  /** Elements of a piece of some planes. */
  pieceLength(planes: number): number {
    const { extents } = this.box;
    const last = this.at([planes - 1, ...this.beside.map((width, axis) => extents[axis + 1] + width - 1)]);
    return last + this.alongCell - this.at([0, ...this.beside.map((width) => -width)]);
  }

  /** The range of memory that holds rows [first, end) of a plane with their ghosts along x: of component `k`, or of all for `aos`. */
  rows(memory: View, plane: number, rows: Span, k: number): View {
    const begin = this.at([plane, rows[0], -this.besideRows], k);
    return new View(memory.buffer, this.values.type, [this.rowsLength(rows)], [1], begin);
  }

  /** Elements of such a range. */
  rowsLength([first, end]: Span): number {
    const last = this.at([0, end - 1, this.box.extents.at(-1)! + this.besideRows - 1]);
    return last + this.alongCell - this.at([0, first, -this.besideRows]);
  }

  /** Layers of padding at each end of a row that hold ghosts. */
  private get besideRows(): number {
    const { padding, ghosted } = this.box;
    return ghosted?.at(-1) ? padding.at(-1)! : 0;
  }

  /** Layers of padding along the axes of a plane that hold ghosts. */
  private get beside(): readonly number[] {
    const { padding, ghosted } = this.box;
    return padding.map((width, axis) => (ghosted?.[axis] ? width : 0)).slice(1);
  }

  /** The range of memory that holds planes [first, end) of component `k` with their ghosts; of all components for `aos`. */
  piece(memory: View, first: number, end: number, k: number): View {
    const begin = this.at([first, ...this.beside.map((width) => -width)], k);
    return new View(memory.buffer, this.values.type, [this.pieceLength(end - first)], [1], begin);
  }
}
