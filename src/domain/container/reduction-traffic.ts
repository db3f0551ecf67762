import type { Precision } from "../../device/device.js";
import { BYTES } from "../../device/memory/view.js";
import type { Container } from "../grid/grid.js";
import { axisExchange, cellBounds, resultSizes } from "./axis-exchange.js";
import { groupsOf } from "./fold-order.js";
import { foldsOnAll, scalarExchange, type ScalarExchange } from "./reductions.js";
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
  return axisFolds[0].array.has(grid.dimension - 1) ? ownPlanesTraffic(container) : cutAxisTraffic(container, precision);
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
      : trafficToAll(exchange, others);
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
  const toAll = foldsOnAll(set) && owners.length > 1;
  const givers = toAll ? owners : owners.filter((m) => m !== root);
  const receivers = toAll ? others : 1;
  const spread = toAll ? 0 : others;
  const messages = sent.length + givers.length * receivers + spread;
  const values = givers.reduce((sum, m) => sum + groups[m].length, 0) * receivers;
  const elements = sent.reduce((sum, { count }) => sum + count, 0) + values + spread;
  const rounds = [sent.length, givers.length, spread].filter((count) => count > 0).length;
  return [...container.reductions.values()].reduce(
    (sum, { type }) => ({ rounds, messages: sum.messages + messages, bytes: sum.bytes + elements * BYTES[type] }),
    NOTHING,
  );
}

/** Each member that has something sends it to all others. */
function trafficToAll(
  { cuts, groups, toAll }: ScalarExchange,
  others: number,
): Pick<Traffic, "rounds" | "messages"> & { readonly elements: number } {
  const partials = groups.messages.reduce((sum, message) => sum + sizeOf(message.partials), 0);
  const sizes = groups.folded
    .map((folded, m) => (toAll === "groups" ? sizeOf(groupsOf(folded)) : cuts[m + 1] - cuts[m]))
    .filter((size) => size > 0);
  const before = toAll === "groups" && groups.messages.length > 0;
  return {
    rounds: before ? 2 : 1,
    messages: (before ? groups.messages.length : 0) + sizes.length * others,
    elements: (before ? partials : 0) + others * sizes.reduce((a, b) => a + b, 0),
  };
}

const sizeOf = ([first, end]: readonly [number, number]): number => end - first;

/** Each member sends the results of its planes to all others. */
function ownPlanesTraffic(container: Container): Traffic {
  const others = container.grid.set.members.length - 1;
  const pieces = rowsOf(container).partitions.filter(({ planes }) => planes > 0);
  const bytes = container.axisFolds!.flatMap(({ array }) =>
    pieces.map(({ first, planes }) => array.piece(container.grid.set.locals[0].index, [first, first + planes]).size * BYTES[array.type]),
  );
  return { rounds: 1, messages: bytes.length * others, bytes: others * bytes.reduce((a, b) => a + b, 0) };
}

function cutAxisTraffic(container: Container, precision: Precision): Traffic {
  const { members, lists, blocks, tree } = axisExchange(container, precision);
  const folds = container.axisFolds!;
  const others = container.grid.set.members.length - 1;
  const results = resultSizes(container, cellBounds(container)).map((values, n) => ({ values, size: BYTES[folds[n].array.type] }));
  if (blocks === 1) {
    const sent = tree.flat().reduce((sum, join) => sum + join.sent, 0);
    const lists = results.reduce((sum, { values, size }) => sum + sent * values * size, 0);
    const arrays = folds.reduce((sum, { array }) => sum + array.length * BYTES[array.type], 0);
    return { rounds: tree.length + 1, messages: folds.length * (tree.flat().length + others), bytes: lists + others * arrays };
  }
  const entries = lists.reduce((sum, { list }) => sum + list.length, 0);
  const pieces = entries * (blocks - 1) + blocks * others;
  return {
    rounds: 2,
    messages: folds.length * members.length * (blocks - 1 + others),
    bytes: results.reduce((sum, { values, size }) => sum + pieces * Math.ceil(values / blocks) * size, 0),
  };
}
