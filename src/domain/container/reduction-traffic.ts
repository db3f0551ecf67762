import type { Precision } from "../../device/device.js";
import { BYTES } from "../../device/memory/view.js";
import type { Container } from "../grid/grid.js";
import { allGather, spreadOf, type Spread } from "./all-gather.js";
import { axisExchange, isPiece, type Line } from "./axis-exchange.js";
import { groupsOf } from "./fold-order.js";
import { groupCount, scalarExchange, type ScalarExchange } from "./reductions.js";
import { boxExchange } from "./box-exchange.js";
import { hasRows, rowsOf } from "./rows.js";

/** Messages of members for the reductions of a container: rounds after one another, copies, and their bytes. */
export interface Traffic {
  readonly rounds: number;
  readonly messages: number;
  readonly bytes: number;
}

const NOTHING: Traffic = { rounds: 0, messages: 0, bytes: 0 };

/** The traffic of a container's reductions on the members of its set, which a plan need not be made for. */
export function reductionTraffic(container: Container, precision: Precision): Traffic {
  const { grid, axisFolds } = container;
  if (grid.set.members.length === 1) return NOTHING;
  if (!axisFolds) return scalarTraffic(container, precision);
  return axisTraffic(container, precision);
}

/** Reductions of one container send side by side, so that their rounds are the same. */
function scalarTraffic(container: Container, precision: Precision): Traffic {
  if (precision === "strict" && hasRows(rowsOf(container))) return boxTraffic(container);
  const exchange = scalarExchange(container, precision);
  const { cuts, groups, root, toAll } = exchange;
  const others = container.grid.set.members.length - 1;
  const owners = [...groups.folded.keys()].filter((m) => groups.folded[m][0] < groups.folded[m][1]);
  const givers = owners.filter((m) => m !== root);
  const partials = groups.messages.reduce((sum, message) => sum + sizeOf(message.partials), 0);
  const values = givers.reduce((sum, m) => sum + sizeOf(groupsOf(groups.folded[m])), 0);
  const each =
    toAll === undefined
      ? {
          rounds: [groups.messages.length, givers.length, cuts.at(-1)! === 0 ? 0 : others].filter((count) => count > 0).length,
          messages: groups.messages.length + givers.length + others,
          elements: partials + values + others,
        }
      : trafficToAll(exchange, spreadOf(container.grid.set));
  return [...container.reductions.values()].reduce(
    (sum, { type }) => ({
      rounds: each.rounds,
      messages: sum.messages + each.messages,
      bytes: sum.bytes + each.elements * BYTES[type],
    }),
    NOTHING,
  );
}

/** The same where members have some of the rows of their planes. */
function boxTraffic(container: Container): Traffic {
  const { set } = container.grid;
  const { groups, pieces, root } = boxExchange(rowsOf(container));
  const others = set.members.length - 1;
  const sent = pieces.filter(({ from, to }) => from !== to);
  const owners = [...groups.keys()].filter((m) => groups[m].length > 0);
  const way = spreadOf(set);
  const toAll = way !== "root" && owners.length > 1;
  const sizes = groups.map(({ length }) => length);
  const values = toAll ? gathering(sizes, way) : [messagesOf(sizes.filter((_, m) => m !== root))];
  const stages = [messagesOf(sent.map(({ count }) => count)), ...values, messagesOf(Array<number>(toAll ? 0 : others).fill(1))].filter(
    ({ messages }) => messages > 0,
  );
  const [rounds, messages, elements] = [stages.length, total(stages, "messages"), total(stages, "elements")];
  return [...container.reductions.values()].reduce(
    (sum, { type }) => ({ rounds, messages: sum.messages + messages, bytes: sum.bytes + elements * BYTES[type] }),
    NOTHING,
  );
}

/** Messages of a round, and values that they have in all. */
interface Stage {
  readonly messages: number;
  readonly elements: number;
}

const messagesOf = (sizes: readonly number[]): Stage => {
  const sent = sizes.filter((size) => size > 0);
  return { messages: sent.length, elements: sent.reduce((a, b) => a + b, 0) };
};

const total = (stages: readonly Stage[], what: keyof Stage): number => stages.reduce((sum, each) => sum + each[what], 0);

/** Rounds in which all members get what each has. */
function gathering(sizes: readonly number[], way: Spread): Stage[] {
  if (way === "doubling") return allGather(sizes).map((round) => messagesOf(round.map(({ first, end }) => end - first)));
  return [messagesOf(sizes.flatMap((size) => Array<number>(sizes.length - 1).fill(size)))];
}

/** All members get what each has, after groups that are divided have come to their owners. */
function trafficToAll({ cuts, groups, toAll }: ScalarExchange, way: Spread): Stage & Pick<Traffic, "rounds"> {
  const sizes = groups.folded.map((folded, m) => (toAll === "groups" ? groupCount(folded) : cuts[m + 1] - cuts[m]));
  const before = toAll === "groups" ? [messagesOf(groups.messages.map(({ partials }) => sizeOf(partials)))] : [];
  const stages = [...before, ...gathering(sizes, way)].filter(({ messages }) => messages > 0);
  return { rounds: stages.length, messages: total(stages, "messages"), elements: total(stages, "elements") };
}

const sizeOf = ([first, end]: readonly [number, number]): number => end - first;

/** Lists go up the trees of lines, or are shared out by places; results go to all. */
function axisTraffic(container: Container, precision: Precision): Traffic {
  const { lines, last } = axisExchange(container, precision);
  const folds = container.axisFolds!;
  const others = container.grid.set.members.length - 1;
  const rounds = new Set<number>();
  let [messages, bytes] = [0, 0];
  /** Messages of each reduction, and values that they have in all. */
  const add = (round: number, count: number, values: (n: number) => number): void => {
    if (count === 0) return;
    rounds.add(round);
    messages += count * folds.length;
    folds.forEach(({ array }, n) => (bytes += values(n) * BYTES[array.type]));
  };
  const upTree = ({ tree, values }: Line, begin: number): number => {
    tree.forEach((joins, n) => add(begin + n, joins.length, (k) => joins.reduce((sum, { sent }) => sum + sent, 0) * values[k]));
    return begin + tree.length;
  };
  const finish = ({ members, lists, blocks, values, bounds }: Line, round: number): void => {
    if (blocks === 1) {
      const size = (n: number): number => (isPiece(container) ? folds[n].array.pieceLength(bounds.at(-1)!) : values[n]);
      return add(round, others, (n) => others * size(n));
    }
    const entries = lists.reduce((sum, { list }) => sum + list.length, 0);
    const size = (n: number): number => Math.ceil(values[n] / blocks);
    add(0, members.length * (blocks - 1), (n) => entries * (blocks - 1) * size(n));
    add(1, members.length * others, (n) => blocks * others * size(n));
  };
  const ends = lines.map((line) => upTree(line, 0));
  if (last) finish(last, upTree(last, Math.max(...ends)));
  else lines.forEach((line, n) => finish(line, ends[n]));
  return { rounds: rounds.size, messages, bytes };
}
