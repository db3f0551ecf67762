import type { ElementType, NumericType } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import { backlog } from "./backlog.js";
import { reachOf, spanOf } from "../../ir/reach.js";
import { codingOf, valueIn } from "../../ir/scalars.js";
import { setStored, memoryArray, takeStored, type MemoryArray, type MemoryArrayOf } from "../memory/memory-array.js";
import { requireAlike, typedArray, BYTES, type TypedArray, type TypedArrayOf, type View } from "../memory/view.js";

export { spanOf };

/** Byte address of a view's first element in its host memory. */
export function addressOf(view: View): number {
  return Number(view.buffer.address) + view.offset * BYTES[view.type];
}

/** Elements that lie before a view's first one in memory: some where a stride is negative. */
export const belowOf = ({ size, shape, strides }: View): number => (size === 0 ? 0 : reachOf(shape, strides).below);

/** A typed array over a view in CPU memory, from its lowest element to its highest, strides and all; the first one is at `belowOf`. Floats of 16 bits are words with their bits. */
export function hostArray<T extends ElementType>(view: View<T>): MemoryArrayOf<T> {
  return memoryArray(view.type, hostOf(view), addressOf(view) - belowOf(view) * BYTES[view.type], spanOf(view));
}

/** Buffer in which a view's address counts, once all work on CPUs is done. Throws LaunchError for a view in a GPU's memory. */
export function hostOf({ buffer }: View): ArrayBufferLike {
  backlog.settle();
  if (!buffer.host) throw new LaunchError("this view lies in a GPU's memory; read it through its device's queue");
  return buffer.host;
}

/** The view's elements in `right` order, as a new array. */
export function readView<T extends ElementType>(view: View<T>): TypedArrayOf<T> {
  const from = hostArray(view);
  const coding = codingOf(view.type);
  if (view.contiguous && !coding) return from.slice() as TypedArrayOf<T>;
  const made = typedArray(view.type, view.size);
  const [stored, to] = [from as MemoryArray, made as TypedArray];
  let n = 0;
  if (view.contiguous) takeStored(view.type, stored, to);
  else eachElement(view, (at) => (to[n++] = coding ? coding.valueOf(stored[at]) : stored[at]));
  return made;
}

/** Sets the view's elements from host data in `right` order, one for each; see `requireData`. */
export function writeView(view: View, data: ArrayLike<number>): void {
  const to = hostArray(view);
  const coding = codingOf(view.type);
  if (view.contiguous) return coding ? setStored(view.type, to, data) : to.set(data);
  // Data that lies in the view's own memory would change on the way.
  const given = ArrayBuffer.isView(data) && data.buffer === to.buffer ? (data as TypedArray).slice() : data;
  let n = 0;
  eachElement(view, (at) => (to[at] = coding ? coding.bitsOf(given[n++]) : given[n++]));
}

/** Copies between views of one shape and type; they may overlap. */
export function copyView(source: View, target: View): void {
  requireAlike(source, target);
  if (source.contiguous && target.contiguous) hostArray(target).set(hostArray(source));
  else writeView(target, readView(source));
}

/** Sets every element of a view in the host's memory to 0. */
export function clearView(view: View): void {
  const array = hostArray(view);
  const zero = valueIn(view.type as NumericType, 0) as number;
  if (view.contiguous) array.fill(zero);
  else eachElement(view, (at) => (array[at] = zero));
}

/** Visits the place of each element in `hostArray`, in `right` order. */
function eachElement(view: View, visit: (offset: number) => void): void {
  const { shape, strides, rank } = view;
  const visitAxis = (axis: number, base: number): void => {
    for (let n = 0, at = base; n < shape[axis]; n++, at += strides[axis]) {
      if (axis === rank - 1) visit(at);
      else visitAxis(axis + 1, at);
    }
  };
  visitAxis(0, belowOf(view));
}
