import { LaunchError } from "../../base/errors.js";
import type { ElementType } from "../../ir/types.js";
import type { Rank } from "../../kernel/declare/params.js";
import { View } from "./view.js";

/** The whole extent of an axis, in `subview`. */
export const all = Symbol("all");

/** Part of one axis for `subview`: everything, the window [begin, end), or one index, which leaves the axis out. */
export type Part = typeof all | readonly [begin: number, end: number] | number;

/** The parts that keep their axis. */
type Kept<P extends readonly Part[]> = P extends readonly [infer First, ...infer Rest extends readonly Part[]]
  ? First extends number
    ? Kept<Rest>
    : [First, ...Kept<Rest>]
  : [];
/** Rank of a subview, where the number of parts is known. */
type PartRank<P extends readonly Part[]> = number extends P["length"]
  ? // oxlint-disable-next-line typescript/no-explicit-any
    any
  : Extract<Kept<P>["length"], Rank>;

/**
 * A view of part of the same memory: `subview(a, all, 3, [2, 5])` is `a[:, 3, 2:5]`, of rank 2. `slice` and `at` are its special cases that keep
 * all axes and that drop one.
 * @param parts one for each axis of the view
 * @throws LaunchError for a part outside its axis, and where no axis is left
 */
export function subview<T extends ElementType, const P extends readonly Part[]>(view: View<T>, ...parts: P): View<T, PartRank<P>> {
  const { shape, strides } = view;
  if (parts.length !== shape.length)
    throw new LaunchError(`subview with ${parts.length} parts of a view of shape [${shape}]; give one for each axis, such as all`);
  const windows = parts.map((part, axis) => windowOf(part, axis, shape[axis]));
  const kept = [...parts.keys()].filter((axis) => typeof parts[axis] !== "number");
  if (kept.length === 0)
    throw new LaunchError(`subview [${parts.map(String)}] of one element; keep an axis with a window, such as [2, 3] in place of 2`);
  return new View(
    view.buffer,
    view.type,
    kept.map((axis) => windows[axis].end - windows[axis].begin),
    kept.map((axis) => strides[axis]),
    windows.reduce((offset, { begin }, axis) => offset + begin * strides[axis], view.offset),
  );
}

function windowOf(part: Part, axis: number, extent: number): { begin: number; end: number } {
  if (part === all) return { begin: 0, end: extent };
  if (typeof part === "number") {
    if (!Number.isInteger(part) || part < 0 || part >= extent)
      throw new LaunchError(`subview at index ${part} of axis ${axis}, which has extent ${extent}`);
    return { begin: part, end: part + 1 };
  }
  const [begin, end] = part;
  if (!(Number.isInteger(begin) && Number.isInteger(end) && 0 <= begin && begin <= end && end <= extent))
    throw new LaunchError(`subview [${begin}, ${end}) of axis ${axis}, which has extent ${extent}`);
  return { begin, end };
}
