import { activityOf } from "../../domain/grid/activity.js";
import { partition } from "../../domain/grid/partition.js";
import { partitionBoxes, type Division } from "../../domain/grid/split.js";
import { reductionRounds } from "../../domain/container/reduction-rounds.js";
import { tasksFor } from "./prediction.js";
import type { RankPlan } from "./rank-plan.js";

/** A message of a reduction between two ranks. */
interface CollectMessage {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
  /** Name of the task. */
  readonly task: string;
}

/** Messages of reductions, and names of those whose messages are not listed. */
export interface CollectMessages {
  readonly messages: readonly CollectMessage[];
  readonly unlisted: readonly string[];
}

/** Ranks, at most, whose reductions are listed where rows are cut: each row of the box is looked at. */
const MOST_LISTED = 64;

/**
 * Messages of the reductions in one plan over all cells, round by round, as ranks send them through the host's memory.
 * @param extents cells of the grid that all ranks have together, all of them active
 */
export function collectMessages(plan: RankPlan, extents: readonly number[], division: Division): CollectMessages {
  const all = tasksFor(plan, division).filter(({ kind }) => kind === "collect");
  const ranks = division.y * division.z;
  if (ranks === 1 || all.length === 0) return { messages: [], unlisted: [] };
  const collects = division.y > 1 && ranks > MOST_LISTED ? [] : all.filter(({ ofSome }) => !ofSome);
  const unlisted = all.filter((task) => !collects.includes(task)).map(({ name }) => name);
  if (collects.length === 0) return { messages: [], unlisted };
  const activity = activityOf(extents, undefined);
  const partitions =
    division.y > 1 ? partitionBoxes(activity, division, { planes: 1, rows: 1 }, 1) : partition(activity.planes, division.z);
  const rounds = reductionRounds({ extents, partitions }, plan.precision, "doubling");
  const messages = collects.flatMap(({ name, reduced }) =>
    rounds.flatMap((round) =>
      reduced.flatMap((size) => round.map(({ from, to, count }): CollectMessage => ({ from, to, bytes: size * count, task: name }))),
    ),
  );
  return { messages, unlisted };
}
