import { helper } from "../kernel/declare/captures.js";
import { kernel, teamKernel } from "../kernel/declare/kernel.js";
import { bool, fixed, i32, sum, u32, view } from "../kernel/declare/params.js";

interface Numbers {
  readonly [index: number]: number;
  readonly length: number;
}

/** The key as an unsigned number of the same order: `flip` is the sign bit of signed keys. */
export function unsigned(key: number, flip: number): number {
  return ((key >>> 0) ^ flip) >>> 0;
}

/** The digit of a key that a pass sorts by: `bits` bits from bit `shift` on. */
export function digitOf(key: number, flip: number, shift: number, bits: number): number {
  return ((unsigned(key, flip) >>> shift) & ((1 << bits) - 1)) | 0;
}
helper(digitOf, () => [unsigned]);

/** Counts into `own` how often each digit occurs among the keys from `begin` to `end` - 1. */
function tally(own: Int32Array, keys: Numbers, begin: number, end: number, flip: number, shift: number, bits: number): void {
  for (let i = begin; i < end; i++) {
    const digit = digitOf(keys[i], flip, shift, bits);
    own[digit] = own[digit] + 1;
  }
}
helper(tally, () => [digitOf]);

/** Keys of any type and layout as unsigned numbers of the same order, one after the other. */
function makeCopyKeys(type: typeof i32 | typeof u32) {
  return kernel(
    "copyKeys",
    { keys: view(type as typeof u32), copied: view(u32), flip: u32, unsigned },
    ({ keys, copied, flip, unsigned }, i) => {
      copied[i] = unsigned(keys[i], flip);
    },
  );
}
export const copyKeys = { i32: makeCopyKeys(i32), u32: makeCopyKeys(u32) };

/** The number of keys: all, or as many of the first ones as a number in memory says. */
export function numberOfKeys(keys: Numbers, count: Numbers, some: boolean): number {
  return some ? count[0] : keys.length;
}
const counted = { count: view(i32), some: fixed(bool), numberOfKeys };

/** A tile of `members` * `each` keys a team, and the digit that they are sorted by. */
const tile = { flip: u32, shift: i32, bits: fixed(i32), members: fixed(i32), each: fixed(i32), unsigned, digitOf, tally, ...counted };

/** counts[digit][tile] */
function makeCountDigits(type: typeof i32 | typeof u32) {
  return teamKernel(
    "countDigits",
    { keys: view(type as typeof u32), counts: view(i32, 2), ...tile },
    ({ keys, counts, flip, shift, bits, members, each, tally, count, some, numberOfKeys }, team) => {
      const all = numberOfKeys(keys, count, some);
      const digits = 1 << bits;
      const counted = team.scratch("i32", members * (digits + 1));
      team.range(members, (m) => {
        const own = new Int32Array(digits);
        const begin = (team.index * members + m) * each;
        tally(own, keys, begin, Math.min(begin + each, all), flip, shift, bits);
        for (let d = 0; d < digits; d++) counted[(digits + 1) * m + d] = own[d];
      });
      team.range(digits, (d) => {
        let sum = 0;
        for (let m = 0; m < members; m++) sum += counted[(digits + 1) * m + d];
        counts[d][team.index] = sum;
      });
    },
  );
}

/** Parameters of kernels that move keys: the order before, and where keys and order go. */
export const moved = {
  order: view(i32),
  starts: view(i32, 2),
  movedKeys: view(u32, 1, { disjoint: true }),
  movedOrder: view(i32, 1, { disjoint: true }),
  /** The keys stand in their first order. */
  first: fixed(bool),
  /** The moved keys are needed. */
  keep: fixed(bool),
};

/** Moves the keys and their order to their places; starts[digit][tile] is the place of the tile's first key with the digit. */
function makeMoveKeys(type: typeof i32 | typeof u32) {
  return teamKernel(
    "moveKeys",
    {
      keys: view(type as typeof u32),
      ...moved,
      ...tile,
    },
    (
      {
        keys,
        order,
        starts,
        movedKeys,
        movedOrder,
        first,
        keep,
        flip,
        shift,
        bits,
        members,
        each,
        unsigned,
        digitOf,
        tally,
        count,
        some,
        numberOfKeys,
      },
      team,
    ) => {
      const all = numberOfKeys(keys, count, some);
      const digits = 1 << bits;
      const counted = team.scratch("i32", members * (digits + 1));
      const places = team.scratch("i32", digits * (members + 1));
      // The keys of a team's only member are all of the tile's.
      if (members > 1)
        team.range(members, (m) => {
          const own = new Int32Array(digits);
          const begin = (team.index * members + m) * each;
          tally(own, keys, begin, Math.min(begin + each, all), flip, shift, bits);
          for (let d = 0; d < digits; d++) counted[(digits + 1) * m + d] = own[d];
        });
      team.range(digits, (d) => {
        let place = starts[d][team.index];
        for (let m = 0; m < members; m++) {
          places[(members + 1) * d + m] = place;
          if (members > 1) place += counted[(digits + 1) * m + d];
        }
      });
      team.range(members, (m) => {
        const next = new Int32Array(digits);
        for (let d = 0; d < digits; d++) next[d] = places[(members + 1) * d + m];
        const begin = (team.index * members + m) * each;
        for (let i = begin; i < Math.min(begin + each, all); i++) {
          const digit = digitOf(keys[i], flip, shift, bits);
          const place = next[digit];
          next[digit] = place + 1;
          if (keep) movedKeys[place] = unsigned(keys[i], flip);
          movedOrder[place] = first ? i : order[i];
        }
      });
    },
  );
}

/** Reads, for each key, the element of an array that has one for each key that there may be. */
function makeLookForWideKeys(type: typeof i32 | typeof u32) {
  return kernel(
    "sortByKey",
    { keys: view(type as typeof u32), keysOfBits: view(i32), shift: i32, found: sum(i32) },
    ({ keys, keysOfBits, shift, found }, i) => {
      found.add(keysOfBits[(keys[i] >>> shift) | 0]);
    },
  );
}

export const lookForWideKeys = { i32: makeLookForWideKeys(i32), u32: makeLookForWideKeys(u32) };
export const countDigits = { i32: makeCountDigits(i32), u32: makeCountDigits(u32) };
export const moveKeys = { i32: makeMoveKeys(i32), u32: makeMoveKeys(u32) };

/** Finds the place of the first key that is not below k among sorted keys. */
export const findOffsets = kernel(
  "findOffsets",
  { sorted: view(u32), offsets: view(i32), ...counted },
  ({ sorted, offsets, count, some, numberOfKeys }, k) => {
    let low = 0;
    let high = numberOfKeys(sorted, count, some);
    while (low < high) {
      const middle = low + ((high - low) >> 1);
      if (sorted[middle] < k >>> 0) low = middle + 1;
      else high = middle;
    }
    offsets[k] = low;
  },
);
