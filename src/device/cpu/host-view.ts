import type { ElementType } from "../../ir/types.js";
import { LaunchError } from "../../ir/errors.js";
import { requireAlike, typedArray, BYTES, type TypedArrayOf, type View } from "../memory/view.js";

/** Elements from a view's first to its last, those between its rows included; 0 for an empty view. */
export function spanOf(view: View): number {
  return view.size === 0 ? 0 : 1 + view.shape.reduce((span, extent, axis) => span + (extent - 1) * view.strides[axis], 0);
}

/** Byte address of a view's first element in its host memory. */
export function addressOf(view: View): number {
  return Number(view.buffer.address) + view.offset * BYTES[view.type];
}

/** A typed array over a view in CPU memory, from its first element on, strides and all. */
export function hostArray<T extends ElementType>(view: View<T>): TypedArrayOf<T> {
  return typedArray(view.type, hostOf(view), addressOf(view), spanOf(view));
}

/** What a view's address counts in. Throws LaunchError where it lies in a GPU's memory. */
export function hostOf({ buffer }: View): ArrayBufferLike {
  if (!buffer.host) throw new LaunchError("this view lies in a GPU's memory; read it through its device's queue");
  return buffer.host;
}

/** The view's elements in `right` order, as a new array. */
export function readView<T extends ElementType>(view: View<T>): TypedArrayOf<T> {
  const from = hostArray(view);
  if (view.contiguous) return from.slice() as TypedArrayOf<T>;
  const to = typedArray(view.type, view.size);
  let n = 0;
  eachElement(view, (at) => (to[n++] = from[at]));
  return to;
}

/** Sets the view's elements from host data in `right` order, one for each; see `requireData`. */
export function writeView(view: View, data: ArrayLike<number>): void {
  const to = hostArray(view);
  if (view.contiguous) return to.set(data);
  let n = 0;
  eachElement(view, (at) => (to[at] = data[n++]));
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
  if (view.contiguous) array.fill(0);
  else eachElement(view, (at) => (array[at] = 0));
}

/** Visits the offset of each element, in `right` order. */
function eachElement(view: View, visit: (offset: number) => void): void {
  const { shape, strides, rank } = view;
  const visitAxis = (axis: number, base: number): void => {
    for (let n = 0, at = base; n < shape[axis]; n++, at += strides[axis]) {
      if (axis === rank - 1) visit(at);
      else visitAxis(axis + 1, at);
    }
  };
  visitAxis(0, 0);
}
