import type { Device } from "../../device/device.js";
import { BYTES, type View } from "../../device/memory/view.js";
import type { NumberElement } from "../../ir/types.js";

const LONGEST_AXIS = 2 ** 31 - 1;
const ROW = 2 ** 20;

/** New zeroed memory for at least `length` elements, contiguous; longer than one axis can be, it has two. */
export function allocate<T extends NumberElement>(device: Device, type: T, length: number): View<T> {
  const shape = length <= LONGEST_AXIS ? [length] : [Math.ceil(length / ROW), ROW];
  return device.array({ type: type as "f64" }, shape) as unknown as View<T>;
}

/** Two cache lines of CPUs, one of GPUs. */
const LINES = 128;

/**
 * The stride of components of `length` elements each: whole cache lines, an odd number of them, so that components whose lengths are
 * multiples of 4 KiB do not compete for the same few sets of a cache.
 */
export function componentStride(type: NumberElement, length: number): number {
  const lines = Math.ceil((length * BYTES[type]) / LINES);
  return ((lines + 1 - (lines % 2)) * LINES) / BYTES[type];
}
