import { chunksPerLine } from "../../ir/launch.js";
import { REDUCTION_CHUNK } from "../../ir/types.js";
import type { Span } from "../grid/parts.js";
import type { PartialRows } from "./rows.js";

/*
 * The exchange of strict partials among members that have some of the rows of their planes: groups of 256 in the order of the whole box, as elsewhere, each of which the
 * owner of its first partial folds (fold-order.ts). Partials of a member lie apart in that order, so that they are picked by tables.
 */

/** Partials that one member has for another, or for itself: their places among its own, and where they belong among the partials of the groups that the other folds. */
export interface Pieces {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Runs of places: the first among the sender's own, the first among the receiver's groups, and how many. */
  readonly runs: readonly { readonly own: number; readonly folded: number; readonly count: number }[];
}

export interface BoxExchange {
  /** Own partials of each member. */
  readonly owned: readonly number[];
  /** Groups that each member folds, by number in the order of the box. */
  readonly groups: readonly (readonly number[])[];
  /** Partials in those groups. */
  readonly folded: readonly number[];
  readonly pieces: readonly Pieces[];
  /** The member that has the first partial, which folds the values of all groups. */
  readonly root: number;
}

/** Cells of a member in a box of rows: its planes and rows, counted from the first of the box. */
interface Part {
  readonly planes: Span;
  readonly rows: Span;
}

/** Partials of a row of the box. */
export const partialsPerRow = ({ extents }: Pick<PartialRows, "extents">): number => chunksPerLine(extents[0]);

/** Rows that a member has in each of its planes. */
export const rowCount = ({ extents, partitions }: PartialRows, member: number): number => {
  const { rows } = partitions[member];
  return rows ? rows[1] - rows[0] : extents[1];
};

export function boxExchange(rows: PartialRows): BoxExchange {
  const each = partialsPerRow(rows);
  const [, ny, nz] = rows.extents;
  const parts = partsOf(rows);
  const owned = parts.map((part) => size(part) * each);
  const owner = ownersOf(parts, each, ny);
  const groups = parts.map((): number[] => []);
  const total = nz * ny * each;
  /** Number of each group among the groups of its owner. */
  const ranks: number[] = [];
  for (let group = 0; group * REDUCTION_CHUNK < total; group++) ranks.push(groups[owner(group * REDUCTION_CHUNK)].push(group) - 1);
  const folded = groups.map((list) => list.reduce((sum, group) => sum + Math.min(REDUCTION_CHUNK, total - group * REDUCTION_CHUNK), 0));
  const pieces = new Map<number, { from: number; to: number; count: number; runs: { own: number; folded: number; count: number }[] }>();
  const add = (from: number, own: number, place: number, count: number): void => {
    const group = Math.floor(place / REDUCTION_CHUNK);
    const to = owner(group * REDUCTION_CHUNK);
    const key = from * parts.length + to;
    const known = pieces.get(key) ?? { from, to, count: 0, runs: [] };
    pieces.set(key, known);
    known.count += count;
    known.runs.push({ own, folded: ranks[group] * REDUCTION_CHUNK + (place % REDUCTION_CHUNK), count });
  };
  parts.forEach(({ planes, rows: [low, high] }, from) => {
    let own = 0;
    for (let plane = planes[0]; plane < planes[1]; plane++)
      for (let place = (plane * ny + low) * each, end = (plane * ny + high) * each; place < end;) {
        const stop = Math.min(end, (Math.floor(place / REDUCTION_CHUNK) + 1) * REDUCTION_CHUNK);
        add(from, own, place, stop - place);
        own += stop - place;
        place = stop;
      }
  });
  return { owned, groups, folded, pieces: [...pieces.values()], root: total > 0 ? owner(0) : 0 };
}

/** Parts of members, empty where they have no row of the box. */
function partsOf({ extents, partitions }: PartialRows): Part[] {
  const filled = partitions.filter(({ planes, rows }) => planes > 0 && rows![0] < rows![1]);
  const [z0, y0] = [Math.min(...filled.map(({ first }) => first)), Math.min(...filled.map(({ rows }) => rows![0]))];
  return partitions.map(({ first, planes, rows = [0, extents[1]] }) =>
    planes > 0 && rows[0] < rows[1]
      ? { planes: [first - z0, first - z0 + planes], rows: [rows[0] - y0, rows[1] - y0] }
      : { planes: [0, 0], rows: [0, 0] },
  );
}

const size = ({ planes, rows }: Part): number => (planes[1] - planes[0]) * (rows[1] - rows[0]);

/** The owner of a partial. */
function ownersOf(parts: readonly Part[], each: number, ny: number): (place: number) => number {
  const filled = [...parts.keys()].filter((m) => size(parts[m]) > 0);
  const has = ([first, end]: Span, at: number): boolean => first <= at && at < end;
  let last = filled[0];
  return (place) => {
    const row = Math.floor(place / each);
    const [y, z] = [row % ny, Math.floor(row / ny)];
    if (last === undefined || !has(parts[last].planes, z) || !has(parts[last].rows, y))
      last = filled.find((m) => has(parts[m].planes, z) && has(parts[m].rows, y))!;
    return last;
  };
}
