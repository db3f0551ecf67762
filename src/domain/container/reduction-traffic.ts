import type { Precision } from "../../device/device.js";
import { BYTES } from "../../device/memory/view.js";
import type { Container } from "../grid/grid.js";
import { spreadOf } from "./all-gather.js";
import { axisExchange, isPiece, type Line } from "./axis-exchange.js";
import { reductionRounds } from "./reduction-rounds.js";
import { partialRows } from "./rows.js";

/** Messages of members for the reductions of a container: rounds after one another, copies, and their bytes. */
interface Traffic {
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
  const { set } = container.grid;
  const rounds = reductionRounds(partialRows(container), precision, spreadOf(set));
  const messages = rounds.flat();
  const elements = messages.reduce((sum, { count }) => sum + count, 0);
  return [...container.reductions.values()].reduce(
    (sum, { type }) => ({ rounds: rounds.length, messages: sum.messages + messages.length, bytes: sum.bytes + elements * BYTES[type] }),
    NOTHING,
  );
}

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
