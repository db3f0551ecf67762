import { helper } from "../kernel/declare/captures.js";
import { teamKernel } from "../kernel/declare/kernel.js";
import { bool, fixed, i32, u32, view } from "../kernel/declare/params.js";
import { digitOf, moved, numberOfKeys, unsigned } from "./sort-kernels.js";

/*
 * A pass of a sort on a GPU, by a digit of four bits. A team brings the keys of its tile into scratch, so that neighbours read neighbours. Each member
 * ranks a run of them there: by digit, and keys of a digit by their place. Then the tile leaves in its new order, in which keys of a digit stand side by side.
 * Members count in four words of registers, a byte for each digit; a pass with counters in scratch took 2 % longer on an H200.
 */

/**
 * Parts of a team, members of a part, and keys of a member: an odd run keeps members in different banks of scratch, of 12 KiB, which all adapters of
 * WebGPU have. On an H200 10^8 keys took 8.2 ms so, 7.9 with 8 parts, 8.8 with 16, and 9.1 and more with longer runs.
 */
const PARTS = 4;
const PER = 16;
const EACH = 15;
export const TILE_ARGUMENTS = { parts: PARTS, members: PARTS * PER, each: EACH };
export const TILE_BITS = 4;

/** Length of a member's row of 16 counts: odd, so that members are in different banks of scratch. */
const ROW = 17;

interface Counts {
  [index: number]: number;
}

/** 1 in a digit's byte, if its word is this one. */
function oneIn(word: number, digit: number): number {
  return digit >> 2 === word ? 1 << (8 * (digit & 3)) : 0;
}

/** The count in a digit's byte. */
function countOf(w0: number, w1: number, w2: number, w3: number, digit: number): number {
  const low = (digit & 4) === 0 ? w0 : w1;
  const high = (digit & 4) === 0 ? w2 : w3;
  return (((digit & 8) === 0 ? low : high) >> (8 * (digit & 3))) & 255;
}

/** Writes the counts of a member to its row. */
function putRow(rows: Counts, m: number, w0: number, w1: number, w2: number, w3: number): void {
  for (let k = 0; k < 4; k++) {
    rows[ROW * m + k] = (w0 >> (8 * k)) & 255;
    rows[ROW * m + 4 + k] = (w1 >> (8 * k)) & 255;
    rows[ROW * m + 8 + k] = (w2 >> (8 * k)) & 255;
    rows[ROW * m + 12 + k] = (w3 >> (8 * k)) & 255;
  }
}
helper(putRow, () => [ROW]);

/** The keys with a digit in the runs of a part of the members. */
function sumOfPart(rows: Counts, d: number, part: number): number {
  let sum = 0;
  for (let m = part * PER; m < (part + 1) * PER; m++) sum += rows[ROW * m + d];
  return sum;
}
helper(sumOfPart, () => [PER, ROW]);

/** Takes the counts of a part of the members in, and gives places instead, from `first` on. */
function placesOfPart(rows: Counts, d: number, part: number, first: number): void {
  let place = first;
  for (let m = part * PER; m < (part + 1) * PER; m++) {
    const count = rows[ROW * m + d];
    rows[ROW * m + d] = place;
    place += count;
  }
}
helper(placesOfPart, () => [PER, ROW]);

/** Puts the counts of a member's run in its row. */
function countRun(rows: Counts, staged: Counts, m: number, own: number, shift: number): void {
  let [w0, w1, w2, w3] = [0, 0, 0, 0];
  for (let e = 0; e < EACH; e++)
    if (m * EACH + e < own) {
      const d = digitOf(staged[m * EACH + e], 0, shift, 4);
      w0 += oneIn(0, d);
      w1 += oneIn(1, d);
      w2 += oneIn(2, d);
      w3 += oneIn(3, d);
    }
  putRow(rows, m, w0, w1, w2, w3);
}
helper(countRun, () => [digitOf, oneIn, putRow, EACH]);

/** Puts the keys of a member's run in their places: the row has the place of its first one with each digit. */
function placeRun(from: Counts, rows: Counts, staged: Counts, m: number, own: number, shift: number): void {
  let [w0, w1, w2, w3] = [0, 0, 0, 0];
  for (let e = 0; e < EACH; e++)
    if (m * EACH + e < own) {
      const d = digitOf(staged[m * EACH + e], 0, shift, 4);
      from[rows[ROW * m + d] + countOf(w0, w1, w2, w3, d)] = m * EACH + e;
      w0 += oneIn(0, d);
      w1 += oneIn(1, d);
      w2 += oneIn(2, d);
      w3 += oneIn(3, d);
    }
}
helper(placeRun, () => [digitOf, countOf, oneIn, EACH, ROW]);

/** Keys, and the digit that they are sorted by. */
const tile = {
  flip: u32,
  shift: i32,
  count: view(i32),
  some: fixed(bool),
  parts: fixed(i32),
  members: fixed(i32),
  each: fixed(i32),
  digitOf,
  numberOfKeys,
  sumOfPart,
};

/** counts[digit][tile] */
function makeCountTile(type: typeof i32 | typeof u32) {
  return teamKernel("countDigits", { keys: view(type as typeof u32), counts: view(i32, 2), ...tile, oneIn, putRow }, (p, team) => {
    const { keys, counts, flip, shift, count, some, digitOf, numberOfKeys } = p;
    const { oneIn, putRow, sumOfPart, parts, members, each } = p;
    const all = numberOfKeys(keys, count, some);
    const begin = team.index * members * each;
    const rows = team.scratch("i32", members * 17, { disjoint: true });
    const sums = team.scratch("i32", 16 * parts);
    team.range(members, (m) => {
      let [w0, w1, w2, w3] = [0, 0, 0, 0];
      // The order of keys does not matter here: neighbours read neighbours.
      for (let e = 0; e < each; e++) {
        const i = begin + e * members + m;
        if (i < all) {
          const d = digitOf(keys[i], flip, shift, 4);
          w0 += oneIn(0, d);
          w1 += oneIn(1, d);
          w2 += oneIn(2, d);
          w3 += oneIn(3, d);
        }
      }
      putRow(rows, m, w0, w1, w2, w3);
    });
    team.range(16 * parts, (t) => {
      sums[t] = sumOfPart(rows, t & 15, t >> 4);
    });
    team.range(16, (d) => {
      let sum = 0;
      for (let part = 0; part < parts; part++) sum += sums[16 * part + d];
      counts[d][team.index] = sum;
    });
  });
}

/** Moves the keys and their order to their places; starts[digit][tile] is the place of the tile's first key with the digit. */
function makeMoveTile(type: typeof i32 | typeof u32) {
  return teamKernel(
    "moveKeys",
    {
      keys: view(type as typeof u32),
      ...moved,
      ...tile,
      unsigned,
      placesOfPart,
      countRun,
      placeRun,
    },
    (p, team) => {
      const { keys, order, starts, movedKeys, movedOrder, first, keep, flip, shift, count, some } = p;
      const { digitOf, numberOfKeys, unsigned, sumOfPart, placesOfPart, countRun, placeRun, parts, members, each } = p;
      const begin = team.index * members * each;
      const own = Math.min(members * each, numberOfKeys(keys, count, some) - begin);
      const staged = team.scratch("u32", members * each);
      const from = team.scratch("i32", members * each, { disjoint: true });
      const rows = team.scratch("i32", members * 17, { disjoint: true });
      const sums = team.scratch("i32", 16 * parts);
      const totals = team.scratch("i32", 16);
      const offsets = team.scratch("i32", 16, { disjoint: true });
      team.range(own, (j) => {
        staged[j] = unsigned(keys[begin + j], flip);
      });
      team.range(members, (m) => countRun(rows, staged, m, own, shift));
      team.range(16 * parts, (t) => {
        sums[t] = sumOfPart(rows, t & 15, t >> 4);
      });
      team.range(16, (d) => {
        let sum = 0;
        for (let part = 0; part < parts; part++) sum += sums[16 * part + d];
        totals[d] = sum;
      });
      team.range(16 * parts, (t) => {
        const [d, part] = [t & 15, t >> 4];
        let place = 0;
        for (let before = 0; before < d; before++) place += totals[before];
        if (part === 0) offsets[d] = starts[d][team.index] - place;
        for (let before = 0; before < part; before++) place += sums[16 * before + d];
        placesOfPart(rows, d, part, place);
      });
      team.range(members, (m) => placeRun(from, rows, staged, m, own, shift));
      team.range(own, (j) => {
        const key = staged[from[j]];
        const place = offsets[digitOf(key, 0, shift, 4)] + j;
        if (keep) movedKeys[place] = key;
        movedOrder[place] = first ? begin + from[j] : order[begin + from[j]];
      });
    },
  );
}

export const countTile = { i32: makeCountTile(i32), u32: makeCountTile(u32) };
export const moveTile = { i32: makeMoveTile(i32), u32: makeMoveTile(u32) };
