import { ELEMENTS, isHalf } from "../../src/ir/scalars.js";
import type { ElementType } from "../../src/ir/types.js";
import type { RangePolicy } from "../../src/device/launch/policy.js";
import { typedArray, type TypedArray } from "../../src/device/memory/view.js";

/** A view's elements in row-major order. */
export interface Grid {
  type: ElementType;
  shape: readonly number[];
  data: TypedArray;
}
/** Views and scatter targets by name. */
export type Memory = Record<string, Grid>;

export const grid = (type: ElementType, shape: readonly number[], values: ArrayLike<number> = []): Grid => {
  const data = typedArray(
    type,
    shape.reduce((a, b) => a * b, 1),
  );
  data.set(values);
  return { type, shape, data };
};

/** What an element holds after a store of the value; typed arrays cut whole numbers themselves. */
export const rounded = (type: ElementType, value: number): number => (isHalf(type) ? ELEMENTS[type].wrap(value) : value);

export const copyOf = (memory: Memory): Memory =>
  Object.fromEntries(Object.entries(memory).map(([name, g]) => [name, grid(g.type, g.shape, g.data)]));

/** Position of an element; throws outside of the extents. */
export function offsetOf({ shape }: Grid, name: string, indices: readonly number[]): number {
  return indices.reduce((at, index, axis) => {
    if (!(index >= 0 && index < shape[axis]))
      throw new RangeError(`index ${index} of axis ${axis} of ${name}, which has extent ${shape[axis]}`);
    return at * shape[axis] + index;
  }, 0);
}

/** The index tuples of a range in row-major order, with the line and the place in it that reductions go by. */
export function* elementsOf({ begin, extents }: RangePolicy): Generator<{ index: number[]; line: number; place: number }> {
  const inner = extents[extents.length - 1];
  const total = extents.reduce((a, b) => a * b, 1);
  for (let n = 0; n < total; n++) {
    const index = Array<number>(extents.length);
    let rest = n;
    for (let axis = extents.length - 1; axis >= 0; axis--) {
      index[axis] = begin[axis] + (rest % extents[axis]);
      rest = Math.floor(rest / extents[axis]);
    }
    yield { index, line: Math.floor(n / inner), place: n % inner };
  }
}
