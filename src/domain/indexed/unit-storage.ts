import type { Device } from "../../device/device.js";
import { View } from "../../device/memory/view.js";
import type { NumberElement } from "../../ir/types.js";
import type { FieldLayout } from "../grid/options.js";
import { allocate, componentStride } from "../grid/memory.js";

/**
 * Storage of a field's values over indexed units, a unit being a cell or a brick of cells: `soa` as [component][unit][cell of the
 * unit], `aos` as [unit][component][cell of the unit].
 */
export class UnitStorage {
  /** Elements in all. */
  readonly length: number;
  private readonly componentStride: number;
  private readonly unitStride: number;

  /**
   * @param units how many there are
   * @param cells of each unit
   */
  constructor(
    readonly units: number,
    readonly cells: number,
    private readonly field: { readonly type: NumberElement; readonly cardinality: number; readonly layout: FieldLayout },
  ) {
    const { type, cardinality, layout } = field;
    this.componentStride = layout === "aos" ? cells : componentStride(type, units * cells);
    this.unitStride = layout === "aos" ? cells * cardinality : cells;
    this.length = layout === "aos" ? units * this.unitStride : cardinality * this.componentStride;
  }

  allocate<T extends NumberElement>(device: Device): View<T> {
    return allocate(device, this.field.type as T, this.length);
  }

  /** Units [begin, end) as [component][unit][cell], whatever the layout. */
  window(memory: View, begin = 0, end = this.units): View {
    const shape = [this.field.cardinality, end - begin, this.cells];
    return new View(memory.buffer, memory.type, shape, [this.componentStride, this.unitStride, 1], memory.offset + begin * this.unitStride);
  }

  /** View of the kernels: `window` without axes of length 1, the components last except for the cells if they lie in that order (aos). */
  kernelView(memory: View): View {
    const { cardinality, layout } = this.field;
    const axes = [
      { extent: cardinality, stride: this.componentStride, kept: cardinality > 1 },
      { extent: this.units, stride: this.unitStride, kept: true },
      { extent: this.cells, stride: 1, kept: this.cells > 1 },
    ];
    const ordered = (layout === "aos" ? [axes[1], axes[0], axes[2]] : axes).filter(({ kept }) => kept);
    return new View(
      memory.buffer,
      memory.type,
      ordered.map(({ extent }) => extent),
      ordered.map(({ stride }) => stride),
      memory.offset,
    );
  }

  /** The range of memory that holds component `k` of units [begin, end), or all components where they lie side by side (aos). */
  piece(memory: View, begin: number, end: number, k = 0): View {
    const first = memory.offset + k * this.componentStride + begin * this.unitStride;
    return new View(memory.buffer, memory.type, [(end - begin) * this.unitStride], [1], first);
  }

  /** One value: component `k` of the cell that is `at` = unit * cells + cell of the unit. */
  value(memory: View, at: number, k: number): View {
    const cell = at % this.cells;
    const offset = k * this.componentStride + ((at - cell) / this.cells) * this.unitStride + cell;
    return new View(memory.buffer, memory.type, [1], [1], memory.offset + offset);
  }
}
