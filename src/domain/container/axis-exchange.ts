import { BYTES } from "../../device/memory/view.js";
import type { Precision } from "../../device/device.js";
import type { Container } from "../grid/grid.js";
import { entriesOf, push, type PlaneRange, type Pushed } from "./fold-order.js";
import { rowsOf } from "./rows.js";

/*
 * How members bring together what each knows of its own planes, for containers that fold the cut axis into arrays. Small results go up a tree over members, and from its
 * root to all. Large ones are shared out: each member joins one block of the places for all members, and all gather the blocks.
 */

/** Bytes of results from which places are shared out. */
const SHARED_FROM = 2 ** 20;

/** Pushes the list of one member onto the list of another. Both are positions in `members`. */
export interface Join {
  readonly from: number;
  readonly to: number;
  /** Entries that are sent. */
  readonly sent: number;
  /** Entries of the receiver before. */
  readonly before: number;
  readonly pushed: Pushed;
}

export interface AxisExchange {
  /** Members that have planes to fold, in order. */
  readonly members: readonly number[];
  /** The planes of each of them. */
  readonly ranges: readonly PlaneRange[];
  /** Folded entries of each one's planes. */
  readonly lists: readonly Pushed[];
  /** Blocks that the places are cut into, one for each of `members`: 1 where results go up a tree. */
  readonly blocks: number;
  /** Joins by round. There are none with several blocks. */
  readonly tree: readonly (readonly Join[])[];
  /** The list of all planes, at the root of the tree or for each block; and what pushing all lists in order combines. */
  readonly whole: Pushed;
}

type Bounds = readonly (readonly [first: number, end: number])[];

/** The cells of a container along x, y (and z). */
export const cellBounds = ({ grid, box }: Pick<Container, "grid" | "box">): Bounds =>
  box?.bounds ?? grid.extents.map((extent) => [0, extent]);

/** Values of the results of each reduction along axes, over cells along x, y (and z). */
export function resultSizes({ axisFolds = [] }: Pick<Container, "axisFolds">, cells: Bounds): number[] {
  return axisFolds.map(({ array, params }) =>
    cells.reduce((count, [first, end], axis) => (array.has(axis) ? count * (end - first) : count), params.length),
  );
}

/** The exchange of a container that folds the cut axis. In fast mode planes join in the order of members, a value for each. */
export function axisExchange(container: Pick<Container, "grid" | "box" | "axisFolds">, precision: Precision): AxisExchange {
  const all = rowsOf(container).partitions.map(({ first, planes }): PlaneRange => [first, first + planes]);
  const members = [...all.keys()].filter((m) => all[m][0] < all[m][1]);
  const origin = members.length > 0 ? all[members[0]][0] : 0;
  const ranges = members.map((m): PlaneRange => [all[m][0] - origin, all[m][1] - origin]);
  const lists = ranges.map((range) => (precision === "strict" ? entriesOf(range) : push([], [{ kind: "any" }])));
  const bytes = resultSizes(container, cellBounds(container)).reduce(
    (sum, size, n) => sum + size * BYTES[container.axisFolds![n].array.type],
    0,
  );
  const whole = push(
    [],
    lists.flatMap(({ list }) => list),
  );
  if (bytes >= SHARED_FROM && members.length > 1) return { members, ranges, lists, blocks: members.length, tree: [], whole };
  return { members, ranges, lists, blocks: 1, tree: treeOf(lists), whole };
}

/** In each round every other group of members gives its list to the group before it. */
function treeOf(own: readonly Pushed[]): Join[][] {
  const lists = own.map(({ list }) => list);
  const rounds: Join[][] = [];
  for (let step = 1; step < lists.length; step *= 2) {
    const joins: Join[] = [];
    for (let to = 0; to + step < lists.length; to += 2 * step) {
      const [left, right] = [lists[to], lists[to + step]];
      const pushed = push(left, right);
      joins.push({ from: to + step, to, sent: right.length, before: left.length, pushed });
      lists[to] = pushed.list;
    }
    rounds.push(joins);
  }
  return rounds;
}
