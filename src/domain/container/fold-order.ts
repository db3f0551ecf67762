import { REDUCTION_CHUNK } from "../../ir/types.js";
import { SPLIT_ROWS } from "../grid/split.js";

/*
 * The orders of strict folds over several members (docs/determinism.md), as functions over lists: who folds what, and in which order. Values are nowhere in here.
 *
 * 1. Planes of the cut axis: leaves of 8 planes in order, then a binary tree over leaves, both counted from the container's first plane.
 *    The results of a range of planes form a short list of entries, and lists of neighbouring ranges can be joined in any order of joins.
 * 2. Rows of grids of three dimensions: leaves of 8 rows, which begin where members may begin, so that each is whole on one member; then the same tree.
 * 3. Partials of scalars: groups of 256, folded where they are.
 */

/** Planes of a leaf, which are folded in order. */
export const LEAF_PLANES = 8;

/**
 * Some neighbouring planes whose result is one value: a plane of a leaf that began in an earlier range; the first planes of a leaf; 2^level whole leaves, a node of the
 * tree; or, in fast mode, any planes at all, which join with any others.
 */
export type FoldEntry =
  | { readonly kind: "plane"; readonly plane: number }
  | { readonly kind: "begin"; readonly leaf: number; readonly planes: number }
  | { readonly kind: "node"; readonly level: number; readonly index: number }
  | { readonly kind: "any" };

/** Planes [first, end) of the container; or rows. */
type PlaneRange = readonly [first: number, end: number];

/** A list after entries were pushed, how often each of them was combined with the last value of the list before it was stored, and the longest that the list has been. */
export interface Pushed {
  readonly list: readonly FoldEntry[];
  readonly merges: readonly number[];
  readonly longest: number;
}

/** The entry for two neighbouring ones, or undefined if their values stay apart. */
function combined(left: FoldEntry, right: FoldEntry): FoldEntry | undefined {
  if (left.kind === "any" && right.kind === "any") return left;
  if (left.kind === "begin" && right.kind === "plane") return beginOf(left.leaf, left.planes + 1);
  const isLeft = left.kind === "node" && left.index % 2 === 0;
  if (!isLeft || right.kind !== "node" || left.level !== right.level) return undefined;
  return { kind: "node", level: left.level + 1, index: left.index / 2 };
}

/** The first planes of a leaf: a node once they are all of it. */
const beginOf = (leaf: number, planes: number): FoldEntry =>
  planes < LEAF_PLANES ? { kind: "begin", leaf, planes } : { kind: "node", level: 0, index: leaf };

/** Appends the entries of the planes that follow. Each combines with the last entry of the list for as long as it can. */
export function push(list: readonly FoldEntry[], entries: readonly FoldEntry[]): Pushed {
  const stack = [...list];
  let longest = stack.length;
  const merges = entries.map((entry) => {
    let [last, count]: [FoldEntry, number] = [entry, 0];
    for (let both: FoldEntry | undefined; stack.length > 0 && (both = combined(stack.at(-1)!, last)); count++) {
      last = both;
      stack.pop();
    }
    longest = Math.max(longest, stack.push(last));
    return count;
  });
  return { list: stack, merges, longest };
}

/** Planes or rows whose values are folded in order into one entry. */
export interface FoldedSpan {
  readonly entry: FoldEntry;
  readonly span: PlaneRange;
}

/** The entries of a range before any are combined: planes up to the first leaf that begins in it, then leaves; the last one may be cut off. */
export function foldedSpans([first, end]: PlaneRange): FoldedSpan[] {
  const parts: FoldedSpan[] = [];
  for (let plane = first; plane < end;) {
    const isBegin = plane % LEAF_PLANES === 0;
    const next = isBegin ? Math.min(end, plane + LEAF_PLANES) : plane + 1;
    const entry: FoldEntry = isBegin ? beginOf(plane / LEAF_PLANES, next - plane) : { kind: "plane", plane };
    parts.push({ entry, span: [plane, next] });
    plane = next;
  }
  return parts;
}

/**
 * The leaves of some rows, each of them whole or cut off by an end of the container's rows.
 * @param start the container's first row
 */
export function rowPartsOf([first, end]: PlaneRange, start: number): FoldedSpan[] {
  const leafOf = (row: number): number => Math.floor(row / SPLIT_ROWS);
  const parts: FoldedSpan[] = [];
  for (let leaf = leafOf(first); leaf * SPLIT_ROWS < end; leaf++) {
    const entry: FoldEntry = { kind: "node", level: 0, index: leaf - leafOf(start) };
    parts.push({ entry, span: [Math.max(first, leaf * SPLIT_ROWS), Math.min(end, (leaf + 1) * SPLIT_ROWS)] });
  }
  return parts;
}

/** The list of parts that follow each other. */
export const listOf = (parts: readonly FoldedSpan[]): Pushed =>
  push(
    [],
    parts.map(({ entry }) => entry),
  );

/** Some consecutive partials: [first, end), counted over all members. */
export type PartialRange = readonly [first: number, end: number];

/** Partials that go from their member to the one that folds their group. */
interface PartialsMessage {
  readonly from: number;
  readonly to: number;
  readonly partials: PartialRange;
}

export interface FoldGroups {
  /** By member: the partials of the groups that it folds, whole groups but for the last of all. Empty where it folds none. */
  readonly folded: readonly PartialRange[];
  readonly messages: readonly PartialsMessage[];
}

/** The groups that partials belong to: [first, end), counted over all members. */
export const groupsOf = ([first, end]: PartialRange): PartialRange => [first / REDUCTION_CHUNK, Math.ceil(end / REDUCTION_CHUNK)];

/**
 * Shares out groups of 256 partials, which begin at multiples of 256: the owner of a group's first partial folds it.
 * @param cuts where the partials of each member begin, and the end of all
 */
export function shareGroups(cuts: readonly number[]): FoldGroups {
  const end = cuts.at(-1)!;
  const up = (place: number): number => Math.min(end, Math.ceil(place / REDUCTION_CHUNK) * REDUCTION_CHUNK);
  const members = cuts.slice(0, -1);
  const folded = members.map((cut, m): PartialRange => [up(cut), Math.max(up(cut), up(cuts[m + 1]))]);
  const messages = members.flatMap((cut, from): PartialsMessage[] => {
    const stop = Math.min(up(cut), cuts[from + 1]);
    if (cut >= stop) return [];
    const begin = Math.floor(cut / REDUCTION_CHUNK) * REDUCTION_CHUNK;
    return [{ from, to: members.findLastIndex((other, m) => other <= begin && begin < cuts[m + 1]), partials: [cut, stop] }];
  });
  return { folded, messages };
}
