import { LaunchError } from "../../base/errors.js";
import { reachOf } from "../../ir/reach.js";
import { storageOf, type AnyView } from "./blocked-view.js";
import { BYTES, type View } from "./view.js";

/** Steps after which the search for a common element is given up, and one is said to be there: dense and nested strides need a few. */
const MOST_STEPS = 20_000;

/** True if some element of one view shares bytes with an element of the other; rarely also where that takes too long to rule out. */
export function overlap(a: View, b: View): boolean {
  if (a.buffer !== b.buffer || a.size === 0 || b.size === 0) return false;
  const [p, q] = [span(a), span(b)];
  if (p.end <= q.begin || q.end <= p.begin) return false;
  return a.type !== b.type || reachable(b.offset - a.offset, [...axesOf(a, 1), ...axesOf(b, -1)]);
}

/** True if two elements of a view are one place in memory; rarely also where that takes too long to rule out. */
export function meetsItself(view: View): boolean {
  if (view.size === 0 || view.contiguous) return false;
  const axes = view.shape.flatMap((extent, axis) => (extent > 1 ? [{ extent, stride: Math.abs(view.strides[axis]) }] : []));
  axes.sort((x, y) => y.stride - x.stride);
  // Two indices that differ first along this axis, and by this much.
  return axes.some(({ extent, stride }, n) => {
    const rest = axes.slice(n + 1).map((axis) => ({ stride: axis.stride, least: 1 - axis.extent, greatest: axis.extent - 1 }));
    const reach = rest.reduce((sum, axis) => sum + axis.stride * axis.greatest, 0);
    const most = Math.min(extent - 1, stride === 0 ? 1 : Math.floor(reach / stride));
    if (most > MOST_STEPS) return true;
    for (let by = 1; by <= most; by++) if (reachable(by * stride, rest)) return true;
    return false;
  });
}

/** Throws LaunchError unless `what` may write to a view: its elements lie apart. */
export function requireApart(what: string, view: AnyView): void {
  const { shape, strides } = storageOf(view);
  if (meetsItself(storageOf(view)))
    throw new LaunchError(
      `${what} a view of shape [${shape}] with strides [${strides}], in which several elements share one place: write to a view whose elements do not overlap`,
    );
}

/** True for two views of the same elements in the same order. */
export const sameElements = (a: View, b: View): boolean =>
  a.buffer === b.buffer &&
  a.type === b.type &&
  a.offset === b.offset &&
  a.shape.join() === b.shape.join() &&
  a.strides.join() === b.strides.join();

function span({ type, shape, strides, offset }: View): { begin: number; end: number } {
  const { below, above } = reachOf(shape, strides);
  return { begin: (offset - below) * BYTES[type], end: (offset + above + 1) * BYTES[type] };
}

/** Index differences along a positive stride. */
interface Axis {
  readonly stride: number;
  readonly least: number;
  readonly greatest: number;
}

/** Reach of a view's elements from its first along each axis; with `sign` -1 in the other direction. */
const axesOf = ({ shape, strides }: View, sign: 1 | -1): Axis[] =>
  shape.map((extent, axis) => {
    const stride = sign * strides[axis];
    return stride < 0 ? { stride: -stride, least: 1 - extent, greatest: 0 } : { stride, least: 0, greatest: extent - 1 };
  });

/** Whether `distance` is a sum of stride * d with each d in its range. */
function reachable(distance: number, axes: readonly Axis[]): boolean {
  const steps = new Map<number, Axis>();
  for (const { stride, least, greatest } of axes) {
    const step = steps.get(stride);
    if (stride > 0) steps.set(stride, { stride, least: least + (step?.least ?? 0), greatest: greatest + (step?.greatest ?? 0) });
  }
  const sorted = [...steps.values()].sort((x, y) => y.stride - x.stride);
  const rests = sorted.map((_, n) => {
    const rest = sorted.slice(n + 1);
    return {
      low: rest.reduce((sum, axis) => sum + axis.stride * axis.least, 0),
      high: rest.reduce((sum, axis) => sum + axis.stride * axis.greatest, 0),
    };
  });
  let left = MOST_STEPS;
  // From the largest stride down, so that few differences leave a distance that the others can make.
  const from = (n: number, away: number): boolean => {
    if (n === sorted.length) return away === 0;
    const { stride, least, greatest } = sorted[n];
    const { low, high } = rests[n];
    const last = Math.min(greatest, Math.floor((away - low) / stride));
    for (let d = Math.max(least, Math.ceil((away - high) / stride)); d <= last; d++)
      if (left-- <= 0 || from(n + 1, away - d * stride)) return true;
    return false;
  };
  return from(0, distance);
}
