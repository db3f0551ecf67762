/*
 * Lists of entries for threads that work through one list each: slices of 32 lists, in which entry n of list l lies at 32 n + l, so that
 * neighbouring threads read side by side. Lists of like length share a slice, which is as long as its longest: SELL-C-sigma (Kreutzer,
 * Hager, Wellein, Fehske, Bishop, "A unified sparse matrix data format for efficient general sparse matrix-vector multiplication on modern
 * processors with wide SIMD units", 2014).
 */

/** Lists of a slice. */
export const SLICE = 32;

export interface Slices {
  /** For each group its first list, and at the end the number of lists. */
  readonly first: Int32Array;
  /** For the list at each place: its number, the place of its first entry (the others follow 32 apart), and their number. */
  readonly list: Int32Array;
  readonly start: Int32Array;
  readonly length: Int32Array;
  /** The entry at each place of a slice; 0 where it is filled up. */
  readonly entries: Int32Array;
}

/** Groups by entry: entries come in windows of `entries`, in each of which `groupOf` counts the groups anew from 0 to `groups`. */
export interface Windows {
  readonly groups: number;
  readonly entries: number;
  readonly groupOf: ArrayLike<number>;
  /** Groups that follow each other whose lists may change places, if not all of a window. */
  readonly within?: number;
}

/**
 * Lists of all entries by group, of one window after the other; lists change places within a window, or within as many groups, only.
 * @param longest entries of a list, at most: a group with more has several lists of like length, one after the other, and a group without entries has
 * none; by default each group has one list
 */
export function inSlices({ groups, entries: each, groupOf, within = groups }: Windows, longest = Infinity): Slices {
  const windows = Math.max(1, Math.ceil(groupOf.length / each));
  const sizes = new Int32Array(windows * groups);
  inWindows(windows, each, groupOf.length, (window, from, to) => count(sizes.subarray(window * groups), groupOf, from, to));
  const first = new Int32Array(sizes.length + 1);
  sizes.forEach((size, g) => (first[g + 1] = first[g] + (longest === Infinity ? 1 : Math.ceil(size / longest))));
  const lists = first[sizes.length];
  const lengths = new Int32Array(lists);
  sizes.forEach((size, g) => {
    const share = Math.ceil(size / (first[g + 1] - first[g]));
    for (let n = first[g], left = size; n < first[g + 1]; n++, left -= share) lengths[n] = Math.max(0, Math.min(share, left));
  });
  const list = Int32Array.from({ length: lists }, (_, n) => n);
  for (let window = 0; window < windows; window++)
    for (let group = 0; group < groups; group += within) {
      const from = window * groups + group;
      list.subarray(first[from], first[from + Math.min(within, groups - group)]).sort((a, b) => lengths[b] - lengths[a]);
    }
  const length = list.map((n) => lengths[n]);
  const start = new Int32Array(lists);
  let end = 0;
  for (let from = 0; from < lists; from += SLICE) {
    const side = Math.min(SLICE, lists - from);
    for (let lane = 0; lane < side; lane++) start[from + lane] = end + lane;
    end += SLICE * Math.max(...length.subarray(from, from + side));
  }
  const startOf = new Int32Array(lists);
  list.forEach((n, place) => (startOf[n] = start[place]));
  const entries = new Int32Array(end);
  inWindows(windows, each, groupOf.length, (window, from, to) => {
    /** List of each group that is filled, and the places of its next entry and of its end. */
    const filled = first.slice(window * groups, (window + 1) * groups);
    const next = filled.map((n) => startOf[n]);
    const ends = filled.map((n) => startOf[n] + SLICE * lengths[n]);
    for (let entry = from; entry < to; entry++) {
      const g = groupOf[entry];
      if (next[g] === ends[g]) {
        const n = ++filled[g];
        next[g] = startOf[n];
        ends[g] = startOf[n] + SLICE * lengths[n];
      }
      entries[next[g]] = entry;
      next[g] += SLICE;
    }
  });
  return { first, list, start, length, entries };
}

function inWindows(windows: number, each: number, count: number, does: (window: number, from: number, to: number) => void): void {
  for (let window = 0; window < windows; window++) does(window, window * each, Math.min(count, (window + 1) * each));
}

function count(sizes: Int32Array, groupOf: ArrayLike<number>, from: number, to: number): void {
  for (let entry = from; entry < to; entry++) sizes[groupOf[entry]]++;
}
