/*
 * Lists of entries for threads that work through one list each: slices of 32 lists, in which entry n of list l lies at 32 n + l, so that
 * neighbouring threads read side by side. Lists of like length share a slice, which is as long as its longest: SELL-C-sigma (Kreutzer,
 * Hager, Wellein, Fehske, Bishop, "A unified sparse matrix data format for efficient general sparse matrix-vector multiplication on modern
 * processors with wide SIMD units", 2014).
 */

/** Lists of a slice. */
export const SLICE = 32;

export interface Slices {
  /** For each group its first list, and at the end the number of lists: a group has one, or more where it has many entries. */
  readonly first: Int32Array;
  /** For the list at each place: its number, the place of its first entry (the others follow 32 apart), and their number. */
  readonly list: Int32Array;
  readonly start: Int32Array;
  readonly length: Int32Array;
  /** The entry at each place of a slice; 0 where it is filled up. */
  readonly entries: Int32Array;
}

/**
 * Lists of the entries 0 .. count-1 by group; lists change places within those of `window` groups only.
 * @param longest entries of a list, at most: a group with more has several lists of like length, one after the other
 */
export function inSlices(groups: number, window: number, count: number, groupOf: (entry: number) => number, longest = Infinity): Slices {
  const sizes = new Int32Array(groups);
  for (let entry = 0; entry < count; entry++) sizes[groupOf(entry)]++;
  const first = new Int32Array(groups + 1);
  for (let g = 0; g < groups; g++) first[g + 1] = first[g] + Math.max(1, Math.ceil(sizes[g] / longest));
  const lists = first[groups];
  const lengths = new Int32Array(lists);
  /** Entries of each list of a group but the last. */
  const each = sizes.map((size, g) => Math.max(1, Math.ceil(size / (first[g + 1] - first[g]))));
  for (let g = 0; g < groups; g++)
    for (let n = 0; n < first[g + 1] - first[g]; n++) lengths[first[g] + n] = Math.max(0, Math.min(each[g], sizes[g] - n * each[g]));
  const list = Int32Array.from({ length: lists }, (_, n) => n);
  for (let g = 0; g < groups; g += window)
    list.subarray(first[g], first[Math.min(groups, g + window)]).sort((a, b) => lengths[b] - lengths[a]);
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
  const filled = new Int32Array(groups);
  for (let entry = 0; entry < count; entry++) {
    const g = groupOf(entry);
    const n = filled[g]++;
    const piece = Math.floor(n / each[g]);
    entries[startOf[first[g] + piece] + SLICE * (n - piece * each[g])] = entry;
  }
  return { first, list, start, length, entries };
}
