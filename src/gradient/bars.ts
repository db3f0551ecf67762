import { LaunchError } from "../base/errors.js";
import type { Device } from "../device/device.js";
import { BlockedView, storageOf, type AnyView } from "../device/memory/blocked-view.js";
import { meetsItself } from "../device/memory/overlap.js";
import { View, type Buffer } from "../device/memory/view.js";
import { BYTES, isFloat, valueType, type FloatType } from "../ir/scalars.js";
import type { ElementType } from "../ir/types.js";

/** The type of derivatives by elements of a type; undefined of integers. */
export function derivativeType(type: ElementType): FloatType | undefined {
  const value = valueType(type);
  return isFloat(value) ? value : undefined;
}

/**
 * Adjoints of views: for each piece of memory another one, in which the adjoint of every view of it lies at the same place. So views of one memory, such as a
 * row and its matrix, share what reaches their elements.
 */
export class Bars {
  private readonly memory = new Map<Buffer, { readonly type: ElementType; readonly all: View }>();

  constructor(private readonly device: Device) {}

  /** True once something may have reached the memory. */
  has(view: AnyView): boolean {
    return this.memory.has(storageOf(view).buffer);
  }

  /**
   * The adjoint of a view, 0 at first.
   * @throws LaunchError for views of integers, for views whose elements share memory, and for memory that is used as floats of two types
   */
  of(view: AnyView): AnyView {
    const { buffer, type, shape, strides, offset } = storageOf(view);
    const own = derivativeType(type);
    if (!own) throw new LaunchError(`a view of ${type} has no gradient: gradients are of f64 and f32`);
    if (meetsItself(storageOf(view)))
      throw new LaunchError(
        `a view of shape [${shape}] with strides [${strides}], in which several elements share one place, has no gradient: give a view whose elements do not overlap`,
      );
    let found = this.memory.get(buffer);
    if (!found) {
      found = { type, all: this.device.array({ type: own }, Math.max(1, Math.floor(buffer.bytes / BYTES[type]))) };
      this.memory.set(buffer, found);
    }
    if (found.type !== type)
      throw new LaunchError(`one memory is used as ${found.type} and as ${type}, which gradients do not know: use an array for each`);
    const bar = new View(found.all.buffer, own, shape, strides, offset);
    return view instanceof BlockedView ? new BlockedView(bar, view.length) : bar;
  }

  free(): void {
    for (const { all } of this.memory.values()) all.free();
    this.memory.clear();
  }
}
