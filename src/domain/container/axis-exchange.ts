import { BYTES } from "../../device/memory/view.js";
import type { Precision } from "../../device/device.js";
import type { Container } from "../grid/grid.js";
import type { Span } from "../grid/parts.js";
import { cutsRows } from "../grid/split.js";
import { listOf, foldedSpans, push, rowPartsOf, type FoldedSpan, type Pushed } from "./fold-order.js";
import { partialRows } from "./rows.js";

/*
 * How members bring together what each knows of its own cells, for containers that fold into arrays along axes. Members that lie along a folded axis make a line. Small
 * results go up a tree over the members of a line, and from its root to all. Large ones are shared out: each member joins one block of the places for its line, and all
 * gather the blocks. Where planes and rows are both folded, lines along z give a value for each leaf of rows, and a line over their roots folds these.
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

/** Cells along x, y (and z). */
export type CellBounds = readonly Span[];

/** Members whose lists are joined, in order along the folded axis. */
export interface Line {
  readonly members: readonly number[];
  /** Folded entries of each one's cells. */
  readonly lists: readonly Pushed[];
  /** Blocks that the places are cut into, one for each of `members`: 1 where results go up a tree. */
  readonly blocks: number;
  /** Joins by round. There are none with several blocks. */
  readonly tree: readonly (readonly Join[])[];
  /** The list of all cells, at the root of the tree or for each block; and what pushing all lists in order combines. */
  readonly whole: Pushed;
  /** The cells of all of them. */
  readonly bounds: CellBounds;
  /** Values that each entry has, by reduction. */
  readonly values: readonly number[];
}

interface AxisExchange {
  /** Lines side by side, of members that have cells to fold. */
  readonly lines: readonly Line[];
  /** Joins what the roots of `lines` know of their leaves of rows. */
  readonly last?: Line;
}

/** How a member folds its cells, in strict mode along axes that members may be cut along. */
export interface MemberOrder {
  /** The axis that is folded in leaves: y or z. Undefined: none is, and the member leaves one value for each result. */
  readonly axis?: number;
  /** Its parts along that axis. */
  readonly parts: readonly FoldedSpan[];
  /** Leaves of rows, each of which has a value of its own while planes are folded. */
  readonly rowParts?: readonly FoldedSpan[];
}

/** The cells of a container along x, y (and z). */
const cellBounds = ({ grid, box }: Pick<Container, "grid" | "box">): CellBounds => box?.bounds ?? grid.extents.map((extent) => [0, extent]);

/** The same of each member. */
export function memberBounds(container: Pick<Container, "grid" | "box">): CellBounds[] {
  const all = cellBounds(container);
  return partialRows(container).partitions.map(({ first, planes, rows }) =>
    all.map((span, axis): Span => (axis === all.length - 1 ? [first, first + planes] : axis === 1 && rows ? rows : span)),
  );
}

const isEmpty = (bounds: CellBounds): boolean => bounds.some(([first, end]) => first >= end);

/** Values of the results of each reduction along axes, over cells along x, y (and z). */
export function resultSizes({ axisFolds = [] }: Pick<Container, "axisFolds">, cells: CellBounds): number[] {
  return axisFolds.map(({ array, params }) =>
    cells.reduce((count, [first, end], axis) => (array.has(axis) ? count * (end - first) : count), params.length),
  );
}

type Folding = Pick<Container, "grid" | "box" | "axisFolds">;

/** Whether a container folds planes, and rows of a grid that has planes: axes that members are cut along. */
const foldedAxes = ({ grid, axisFolds }: Folding): { readonly planes: boolean; readonly rows: boolean } => {
  const { array } = axisFolds![0];
  return { planes: !array.has(grid.dimension - 1), rows: grid.dimension === 3 && !array.has(1) };
};

/** How a member folds cells of a container. */
export function memberOrder(container: Folding, bounds: CellBounds, precision: Precision): MemberOrder {
  const folded = foldedAxes(container);
  if (precision === "fast" || !(folded.planes || folded.rows)) return { parts: [] };
  const all = cellBounds(container);
  const rows = (): FoldedSpan[] => rowPartsOf(bounds[1], all[1][0]);
  if (!folded.planes) return { axis: 1, parts: rows() };
  const axis = bounds.length - 1;
  const [origin] = all[axis];
  const [first, end] = bounds[axis];
  const parts = foldedSpans([first - origin, end - origin]).map(({ entry, span }): FoldedSpan => ({
    entry,
    span: [span[0] + origin, span[1] + origin],
  }));
  return { axis, parts, ...(folded.rows && { rowParts: rows() }) };
}

/** The exchange of a container that folds into arrays along axes. In fast mode cells of members join in the order of members, a value for each. */
export function axisExchange(container: Folding, precision: Precision): AxisExchange {
  const { grid, axisFolds } = container;
  const folded = foldedAxes(container);
  const bounds = memberBounds(container);
  const orders = bounds.map((each) => memberOrder(container, each, precision));
  const inTwo = orders.some(({ rowParts }) => rowParts !== undefined);
  const lineOf = (m: number): string => {
    const { first, rows = [0] } = grid.partitions[m];
    return [!folded.planes && first, !(folded.rows && !inTwo) && rows[0]].join();
  };
  const members = new Map<string, number[]>();
  for (const m of bounds.keys()) {
    if (isEmpty(bounds[m])) continue;
    const key = lineOf(m);
    members.set(key, [...(members.get(key) ?? []), m]);
  }
  const lines = [...members.values()].map((line) => {
    const lists = line.map((m) => (orders[m].axis === undefined ? push([], [{ kind: "any" }]) : listOf(orders[m].parts)));
    const cells = around(line.map((m) => bounds[m]));
    const leaves = orders[line[0]].rowParts?.length ?? 1;
    const values = resultSizes(container, cells).map((size) => size * leaves);
    const bytes = values.reduce((sum, count, n) => sum + count * BYTES[axisFolds![n].array.type], 0);
    return makeLine(line, lists, cells, values, !inTwo && bytes >= SHARED_FROM);
  });
  if (!inTwo || lines.length === 0) return { lines };
  const roots = lines.map(({ members: [root] }) => root);
  const lists = roots.map((root) => listOf(orders[root].rowParts!));
  const cells = around(lines.map((line) => line.bounds));
  return { lines, last: makeLine(roots, lists, cells, resultSizes(container, cells), false) };
}

/** The least box around boxes. */
const around = (boxes: readonly CellBounds[]): CellBounds =>
  boxes[0].map((_, axis): Span => [Math.min(...boxes.map((box) => box[axis][0])), Math.max(...boxes.map((box) => box[axis][1]))]);

/** @param large results are shared out */
function makeLine(
  members: readonly number[],
  lists: readonly Pushed[],
  bounds: CellBounds,
  values: readonly number[],
  large: boolean,
): Line {
  const whole = push(
    [],
    lists.flatMap(({ list }) => list),
  );
  const shares = large && members.length > 1;
  return { members, lists, blocks: shares ? members.length : 1, tree: shares ? [] : treeOf(lists), whole, bounds, values };
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

/** Whether a line has one member that leaves its results without entries: nothing is left to join. */
export const isDirect = ({ members, lists }: Line): boolean => members.length === 1 && lists[0].list[0].kind === "any";

/** Whether the results of a line lie together in memory, in whole planes or as whole arrays, so that they are sent from there. */
export const isPiece = ({ grid, axisFolds }: Folding): boolean => !(axisFolds![0].array.has(1) && cutsRows(grid));
