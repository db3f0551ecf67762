/*
 * Lists of entries for threads that work through one list each: slices of 32 lists, in which entry n of list l lies at 32 n + l, so that
 * neighbouring threads read side by side. Lists of like length share a slice, which is as long as its longest: SELL-C-sigma (Kreutzer,
 * Hager, Wellein, Fehske, Bishop, "A unified sparse matrix data format for efficient general sparse matrix-vector multiplication on modern
 * processors with wide SIMD units", 2014).
 */

/** Lists of a slice. */
export const SLICE = 32;

export interface Slices {
  /** For the list at each place: its group, the place of its first entry (the others follow 32 apart), and their number. */
  readonly group: Int32Array;
  readonly start: Int32Array;
  readonly length: Int32Array;
  /** The entry at each place of a slice; 0 where it is filled up. */
  readonly entries: Int32Array;
}

/** Lists of the entries 0 .. count-1 by group; groups change places within `window` of them only. */
export function inSlices(groups: number, window: number, count: number, groupOf: (entry: number) => number): Slices {
  const sizes = new Int32Array(groups);
  for (let entry = 0; entry < count; entry++) sizes[groupOf(entry)]++;
  const group = Int32Array.from({ length: groups }, (_, g) => g);
  for (let first = 0; first < groups; first += window) group.subarray(first, first + window).sort((a, b) => sizes[b] - sizes[a]);
  const length = group.map((g) => sizes[g]);
  const start = new Int32Array(groups);
  let end = 0;
  for (let first = 0; first < groups; first += SLICE) {
    const lists = Math.min(SLICE, groups - first);
    for (let lane = 0; lane < lists; lane++) start[first + lane] = end + lane;
    end += SLICE * Math.max(...length.subarray(first, first + lists));
  }
  const next = new Int32Array(groups);
  group.forEach((g, place) => (next[g] = start[place]));
  const entries = new Int32Array(end);
  for (let entry = 0; entry < count; entry++) {
    const g = groupOf(entry);
    entries[next[g]] = entry;
    next[g] += SLICE;
  }
  return { group, start, length, entries };
}
