import { range } from "../../device/launch/policy.js";
import type { View } from "../../device/memory/view.js";
import type { PatternSteps } from "../../patterns/pattern.js";
import { planScan } from "../../patterns/scan.js";
import { planSort } from "../../patterns/sort.js";
import { classify, countAll, keepCells, listMoving, moveMoving, moveStaying } from "./reorder-kernels.js";

/** The lists of a member's cells, and what has become of their particles. */
export interface Lists {
  /** Cells of the member; after them, three numbers for particles that are in none, and one for places without a particle. */
  readonly cells: number;
  /** For each place, including arrivals before and after the own places: the index of the cell that its particle is in now. */
  readonly key: View<"i32", 1>;
  /** The first of the own places. */
  readonly begin: number;
  /** For each own place, the cell in whose list it was; -1 in none. Overwritten with the new ones. */
  readonly cellOf: View<"i32", 1>;
  /** Start of each cell's list, then of each category's; `cells` + 4 entries. Overwritten with the new starts. */
  readonly offsets: View<"i32", 1>;
  /** Ranks of the particles that move, among these, where they do not lie in the order in which all particles were. */
  ranksOf?(steps: PatternSteps, moves: View<"i32", 1>, ranks: View<"i32", 1>): View<"i32", 1>;
}

/** New place of the particle of each own place, counted from the first place of all. */
interface NewOrder {
  readonly order: View<"i32", 1>;
  /** The new offsets; places from the last one on have no particle. */
  readonly starts: View<"i32", 1>;
}

/**
 * Adds launches that find the new order of particles by cell. Few leave their cell from one time to the next, so only these are sorted: in each
 * list, those that stay come first, in their order, then those that come, in the order in which all particles were. As the lists of all members
 * are in the order of the cells, that depends on nothing but the particles.
 */
export function planReorder(steps: PatternSteps, { cells, key, begin, cellOf, offsets, ranksOf }: Lists): NewOrder {
  const [all, room] = [key.length, cellOf.length];
  const numbers = (length: number): View<"i32", 1> => steps.array("i32", length);
  const [stays, stayRank, moves, moveRank] = [numbers(room + 1), numbers(room + 1), numbers(all), numbers(all)];
  steps.launch(classify, { key, cellOf, all, begin, room, cells, stays, moves }, range(all + 1));
  planScan(steps, { input: stays, output: stayRank, op: "sum", exclusive: true });
  planScan(steps, { input: moves, output: moveRank, op: "sum", exclusive: true });

  const [keys, sources, permutation, count] = [numbers(all), numbers(all), numbers(all), numbers(1)];
  const [sorted, arriving] = [steps.array("u32", all), numbers(cells + 4)];
  const place = ranksOf?.(steps, moves, moveRank) ?? moveRank;
  steps.launch(listMoving, { key, moves, rank: moveRank, place, keys, sources, count }, range(all));
  const bits = Math.max(1, Math.ceil(Math.log2(cells + 4)));
  planSort(steps, { keys, permutation, offsets: arriving, bits, count, sorted });

  const [totals, starts] = [numbers(cells + 4), numbers(cells + 4)];
  steps.launch(countAll, { rank: stayRank, offsets, arriving, cells, totals }, range(cells + 4));
  planScan(steps, { input: totals, output: starts, op: "sum", exclusive: true });

  const [order, cellAt] = [numbers(room), numbers(room)];
  const target = { starts, order, cellAt };
  steps.launch(moveStaying, { stays, rank: stayRank, cellOf, offsets, begin, ...target }, range(room));
  steps.launch(moveMoving, { count, sorted, permutation, sources, arriving, rank: stayRank, offsets, cells, ...target }, range(all));
  steps.launch(keepCells, { starts, cells, cellAt, cellOf }, range(room));
  return { order, starts };
}
