import { BYTES, type View } from "./view.js";

/** True if some element of one view shares bytes with an element of the other. */
export function overlap(a: View, b: View): boolean {
  if (a.buffer !== b.buffer || a.size === 0 || b.size === 0) return false;
  const [p, q] = [span(a), span(b)];
  if (p.end <= q.begin || q.end <= p.begin) return false;
  // Views cut from one array meet only if their distance is made of whole steps inside both.
  const sameGrid = a.type === b.type && a.rank === b.rank && a.strides.every((s, axis) => s === b.strides[axis]);
  return sameGrid ? reachable(b.offset - a.offset, axes(a, b)) : true;
}

/** True for two views of the same elements in the same order. */
export const sameElements = (a: View, b: View): boolean =>
  a.buffer === b.buffer &&
  a.type === b.type &&
  a.offset === b.offset &&
  a.shape.join() === b.shape.join() &&
  a.strides.join() === b.strides.join();

function span(v: View): { begin: number; end: number } {
  let [low, high] = [v.offset, v.offset];
  v.shape.forEach((extent, axis) => {
    const reach = (extent - 1) * v.strides[axis];
    if (reach < 0) low += reach;
    else high += reach;
  });
  return { begin: low * BYTES[v.type], end: (high + 1) * BYTES[v.type] };
}

interface Axis {
  stride: number;
  least: number;
  greatest: number;
}

/** Index differences that elements of the two views can have, largest stride first. */
const axes = (a: View, b: View): Axis[] =>
  a.strides
    .map((stride, axis) => ({ stride, least: -(b.shape[axis] - 1), greatest: a.shape[axis] - 1 }))
    .filter((x) => x.stride > 0)
    .sort((x, y) => y.stride - x.stride);

/** Whether `distance` is a sum of stride * d with each d in its range. */
function reachable(distance: number, [axis, ...rest]: Axis[]): boolean {
  if (!axis) return distance === 0;
  const d = Math.floor(distance / axis.stride);
  return [d, d + 1].some((k) => k >= axis.least && k <= axis.greatest && reachable(distance - k * axis.stride, rest));
}
