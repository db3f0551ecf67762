import { REDUCTION_CHUNK } from "../../ir/types.js";
import type { RangePolicy } from "../launch/policy.js";

/*
 * Scatter in element order: elements or teams write their contributions to slots, which are sorted by target and then added. A launch with
 * more of them than memory is wanted for runs in batches.
 */

/** Pieces of `rows` indices of the first axis. */
export function cut({ begin, extents }: RangePolicy, rows: number): RangePolicy[] {
  const list: RangePolicy[] = [];
  for (let first = 0; first < extents[0]; first += rows)
    list.push({
      kind: "range",
      begin: [begin[0] + first, ...begin.slice(1)],
      extents: [Math.min(rows, extents[0] - first), ...extents.slice(1)],
    });
  return list;
}

/** Pieces of a range with `most` contributions, of `slots` an element, or one row at least; chunks of reductions stay whole. */
export function rangeBatches(policy: RangePolicy, slots: number, most: number): RangePolicy[] {
  if (slots === 0) return [policy];
  const unit = policy.extents.length === 1 ? REDUCTION_CHUNK : 1;
  const row = policy.extents.slice(1).reduce((a, b) => a * b, 1);
  return cut(policy, Math.max(1, Math.floor(most / (slots * row * unit))) * unit);
}

/** Pieces of a league with `most` contributions, of `slots` a team, or one team at least; the whole league where teams have none. */
export function teamBatches(league: number, slots: number, most: number): { first: number; size: number }[] {
  if (slots === 0) return [{ first: 0, size: league }];
  const size = Math.max(1, Math.floor(most / slots));
  return Array.from({ length: Math.ceil(league / size) }, (_, n) => ({ first: n * size, size: Math.min(size, league - n * size) }));
}

/** The parts of a launch's memory in which keys, and the order of the contributions that belong to them, lie. */
export interface Sorted {
  readonly keys: "keys" | "sortedKeys";
  /** Undefined if each has its own place. */
  readonly order: "order" | "sortedOrder" | undefined;
}

/** From where a pass moves keys to where. */
export interface SortPass extends Sorted {
  /** The lowest bit of its digit. */
  readonly shift: number;
  readonly sortedKeys: Sorted["keys"];
  readonly sortedOrder: "order" | "sortedOrder";
}

/**
 * The passes of a radix sort over the lower `bits` of keys, `digit` at a time, and where all is in the end: keys and order go to and fro between two places
 * each.
 */
export function sortPasses(bits: number, digit: number): { passes: SortPass[]; last: Sorted } {
  const passes: SortPass[] = [];
  let last: Sorted = { keys: "keys", order: undefined };
  for (let shift = 0; shift < bits; shift += digit) {
    const back = passes.length % 2 === 1;
    const [sortedKeys, sortedOrder] = back ? (["keys", "order"] as const) : (["sortedKeys", "sortedOrder"] as const);
    passes.push({ ...last, shift, sortedKeys, sortedOrder });
    last = { keys: sortedKeys, order: sortedOrder };
  }
  return { passes, last };
}
