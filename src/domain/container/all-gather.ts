import type { View } from "../../device/memory/view.js";
import { spansProcesses, type DeviceSet } from "../../set/index.js";
import type { HaloCopy, Round } from "../grid/parts.js";

/*
 * Values that each member has, brought to all members: in about log2(members) rounds, in each of which a member sends what it has so far to one other, and the
 * distance doubles. No member handles more messages than the others.
 */

/** A message: values [first, end) of all, in the order of members. */
interface Gathered {
  readonly from: number;
  readonly to: number;
  readonly first: number;
  readonly end: number;
}

/** Members of one process, or that GPUs' own messages connect, at most, that bring what they have to all, which fold it for themselves. */
const MOST_TO_ALL = 16;
/**
 * How the results of a set's reductions come to all members. `pairs`: each sends what it has to each other, since a message between GPUs without the host costs time
 * for each that waits for another. `doubling`: see `allGather`. `root`: one member folds, and sends the result: many members of one process have one processor, and
 * nothing to gain.
 */
export type Spread = "pairs" | "doubling" | "root";
export function spreadOf(set: DeviceSet): Spread {
  const few = set.members.length <= MOST_TO_ALL;
  if (set.carrier && few) return "pairs";
  return few || spansProcesses(set) ? "doubling" : "root";
}

/** How many members' values a member sends in each round. */
export function gatherCounts(members: number): number[] {
  const counts: number[] = [];
  for (let distance = 1; distance < members; distance *= 2) counts.push(Math.min(distance, members - distance));
  return counts;
}

/**
 * Messages of each round; members without values send none of their own, and ranges that go beyond the last member are two messages.
 * @param sizes values of each member
 */
export function allGather(sizes: readonly number[]): Gathered[][] {
  const members = sizes.length;
  const begins = [0];
  for (const size of sizes) begins.push(begins.at(-1)! + size);
  const rounds = gatherCounts(members).map((count, n) =>
    sizes.flatMap((_, from) => {
      const to = (from + 2 ** n) % members;
      const first = from - count + 1;
      const ranges = [...(first < 0 ? [[first + members, members]] : []), [Math.max(0, first), from + 1]];
      return ranges
        .map(([low, high]): Gathered => ({ from, to, first: begins[low], end: begins[high] }))
        .filter(({ first, end }) => end > first);
    }),
  );
  return rounds.filter(({ length }) => length > 0);
}

/** The same as copies between arrays that have room for all values, by member of this process; each has its own values at their place. */
export const gatherRounds = (sizes: readonly number[], arrays: readonly (View | undefined)[]): HaloCopy[][] =>
  allGather(sizes).map((round) =>
    round.map(({ from, to, first, end }) => ({
      from,
      to,
      source: arrays[from]?.slice([first, end]),
      target: arrays[to]?.slice([first, end]),
    })),
  );

/** Rounds of copies after launches, the first of them of the first round. */
export const afterLaunches = (launches: Round["launches"], copies: readonly (readonly HaloCopy[])[]): Round[] =>
  (copies.length > 0 ? copies : [[]]).map((each, n) => ({ launches: n === 0 ? launches : launches.map(() => []), copies: each }));
