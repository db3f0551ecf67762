import { BYTES, type View } from "./view.js";

/** True if some element of one view shares bytes with an element of the other. */
export function overlap(a: View, b: View): boolean {
  if (a.buffer !== b.buffer || a.size === 0 || b.size === 0) return false;
  const [p, q] = [span(a), span(b)];
  if (p.end <= q.begin || q.end <= p.begin) return false;
  // Views cut from one array meet only if their distance is made of whole steps inside both.
  const steps = a.type === b.type ? axes(a, b) : undefined;
  return steps && nested(steps) ? reachable(b.offset - a.offset, steps) : true;
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

/** Index differences that elements of the two views can have along each stride of one or both, largest stride first. */
function axes(a: View, b: View): Axis[] {
  const steps = new Map<number, Axis>();
  const add = (stride: number, least: number, greatest: number): void => {
    const step = steps.get(stride) ?? { stride, least: 0, greatest: 0 };
    steps.set(stride, { stride, least: step.least + least, greatest: step.greatest + greatest });
  };
  a.strides.forEach((stride, axis) => add(stride, 0, a.shape[axis] - 1));
  b.strides.forEach((stride, axis) => add(stride, 1 - b.shape[axis], 0));
  return [...steps.values()].filter(({ stride, least, greatest }) => stride !== 0 && greatest > least).sort((x, y) => y.stride - x.stride);
}

/** Whether the steps along smaller strides never sum up to one along a larger, which `reachable` counts on. */
function nested(steps: readonly Axis[]): boolean {
  let reach = 0;
  return [...steps].reverse().every(({ stride, least, greatest }) => {
    const fits = stride > reach;
    reach += stride * Math.max(greatest, -least);
    return fits;
  });
}

/** Whether `distance` is a sum of stride * d with each d in its range. */
function reachable(distance: number, [axis, ...rest]: Axis[]): boolean {
  if (!axis) return distance === 0;
  const d = Math.floor(distance / axis.stride);
  return [d, d + 1].some((k) => k >= axis.least && k <= axis.greatest && reachable(distance - k * axis.stride, rest));
}
