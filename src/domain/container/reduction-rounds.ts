import type { Precision } from "../../device/device.js";
import { allGather, type Spread } from "./all-gather.js";
import { boxExchange } from "./box-exchange.js";
import { groupCount, scalarExchange } from "./reductions.js";
import { hasRows, type PartialRows } from "./rows.js";

/* The messages of reductions into scalars, round by round, without any memory: what plans and predictions tell of them. */

/** A message of one reduction, and how many values it has. */
interface ReductionMessage {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Rounds that have messages, of one reduction of a container over some cells. */
export function reductionRounds(rows: PartialRows, precision: Precision, spread: Spread): ReductionMessage[][] {
  const rounds = precision === "strict" && hasRows(rows) ? boxRounds(rows, spread) : lineRounds(rows, precision, spread);
  return rounds.map((round) => round.filter(({ from, to, count }) => from !== to && count > 0)).filter(({ length }) => length > 0);
}

/** Members have runs of partials. */
function lineRounds(rows: PartialRows, precision: Precision, spread: Spread): ReductionMessage[][] {
  const { cuts, groups, root, toAll } = scalarExchange(rows, precision, spread);
  const sizes = groups.folded.map(groupCount);
  if (toAll === "partials")
    return gathering(
      sizes.map((_, m) => cuts[m + 1] - cuts[m]),
      spread,
    );
  const toOwners = groups.messages.map(({ from, to, partials: [begin, end] }) => ({ from, to, count: end - begin }));
  return [toOwners, ...(toAll ? gathering(sizes, spread) : throughRoot(sizes, root))];
}

/** Members have some of the rows of their planes. */
function boxRounds(rows: PartialRows, spread: Spread): ReductionMessage[][] {
  const { groups, pieces, root } = boxExchange(rows);
  const sizes = groups.map(({ length }) => length);
  const toAll = spread !== "root" && sizes.filter((size) => size > 0).length > 1;
  return [pieces.map(({ from, to, count }) => ({ from, to, count })), ...(toAll ? gathering(sizes, spread) : throughRoot(sizes, root))];
}

/** All members get the values that each has. */
function gathering(sizes: readonly number[], spread: Spread): ReductionMessage[][] {
  if (spread === "doubling")
    return allGather(sizes).map((round) => round.map(({ from, to, first, end }) => ({ from, to, count: end - first })));
  return [sizes.flatMap((count, from) => sizes.map((_, to) => ({ from, to, count })))];
}

/** One member gets all values, and sends one to each of the others. */
function throughRoot(sizes: readonly number[], root: number): ReductionMessage[][] {
  return [sizes.map((count, from) => ({ from, to: root, count })), sizes.map((_, to) => ({ from: root, to, count: 1 }))];
}
