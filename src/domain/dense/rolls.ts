import type { Launch } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { View } from "../../device/memory/view.js";
import type { Params } from "../../kernel/declare/params.js";
import { isLocal, localOf } from "../../set/index.js";
import { moveKernel } from "../container/moves.js";
import type { Field, Grid, Roll } from "../grid/grid.js";
import type { HaloCopy, Rounds } from "../grid/parts.js";
import { divisionIn } from "../grid/split.js";

/*
 * Copies of cells to other places. What a member has for another one, or for itself in the same field, is packed, sent in one piece and unpacked.
 */

/** Cells side by side along an axis: where they go, where they come from, and how many there are. */
interface Run {
  readonly to: number;
  readonly from: number;
  readonly length: number;
}

/** They belong to one place among members, each. */
interface Slab extends Run {
  readonly source: number;
  readonly target: number;
}

/** The view of some cells of a member: components, then the grid's axes in kernel order, without z in 2D. */
export type CellsView = (field: Field, member: number, first: readonly number[], extents: readonly number[]) => View;

/** Cells of one member that go to one member. */
interface Piece {
  readonly size: number;
  readonly from: () => View;
  readonly to: () => View;
}

/** All that one member has for one member, which may be itself. */
interface Pair {
  readonly from: number;
  readonly to: number;
  readonly pieces: Piece[];
}

/** @param cellsOf is given coordinates in kernel order, counted from the member's first cell */
function pairsOf(grid: Grid, { source, target, components, bounds, shift }: Roll, cellsOf: CellsView): Pair[] {
  const starts = startsOf(grid);
  const slabs = bounds
    .map((along, axis) => runsOf(along, shift[axis], grid.periodic[axis] ? grid.extents[axis] : undefined))
    .toReversed()
    .map((runs, axis) => runs.flatMap((run) => slabsOf(run, starts[axis])));
  const boxes = slabs.reduce<Slab[][]>((made, list) => made.flatMap((box) => list.map((slab) => [...box, slab])), [[]]);
  const groups = consecutive(components);
  const memberAt = (box: readonly Slab[], end: "source" | "target"): number =>
    box.reduce((member, slab, axis) => member * starts[axis].length + slab[end], 0);

  const pairs = new Map<string, Pair>();
  for (const box of boxes) {
    const [from, to] = [memberAt(box, "source"), memberAt(box, "target")];
    const pair = pairs.get(`${from} ${to}`) ?? { from, to, pieces: [] };
    pairs.set(`${from} ${to}`, pair);
    const extents = box.map(({ length }) => length);
    for (const [k, count] of groups) {
      const view = (field: Field, member: number, place: "from" | "to", end: "source" | "target"): View => {
        const first = box.map((slab, axis) => slab[place] - starts[axis][slab[end]]);
        return asFour(componentsOf(cellsOf(field, member, first, extents), k, count));
      };
      const size = extents.reduce((product, extent) => product * extent, count);
      pair.pieces.push({ size, from: () => view(source, from, "from", "source"), to: () => view(target, to, "to", "target") });
    }
  }
  return [...pairs.values()];
}

/** Packs, one message from each member to each other that takes cells of it, and unpacks. */
export function rollRounds(grid: Grid, roll: Roll, cellsOf: CellsView): Rounds {
  const { set } = grid;
  const { source, target } = roll;
  const members = set.members.map(() => ({ packs: [] as Launch[], unpacks: [] as Launch[] }));
  const copies: HaloCopy[] = [];
  const buffers: View[] = [];
  const buffer = (member: number, length: number): View => {
    const made = localOf(set, member).device.array({ type: source.type }, length);
    buffers.push(made);
    return made;
  };
  const launch = (member: number, from: View, to: View): Launch =>
    localOf(set, member).device.prepare<Params>(moveKernel(source.type), { from, to }, range(...to.shape));
  for (const { from, to, pieces } of pairsOf(grid, roll, cellsOf)) {
    const [isSource, isTarget] = [from, to].map((m) => isLocal(set.members[m]));
    const { packs } = members[from];
    const { unpacks } = members[to];
    if (from === to && source !== target) {
      if (isSource) packs.push(...pieces.map((piece) => launch(from, piece.from(), piece.to())));
      continue;
    }
    const length = pieces.reduce((sum, { size }) => sum + size, 0);
    const outbox = isSource ? buffer(from, length) : undefined;
    const inbox = from === to ? outbox : isTarget ? buffer(to, length) : undefined;
    if (from !== to) copies.push({ from, to, source: outbox, target: inbox });
    let place = 0;
    for (const piece of pieces) {
      if (outbox) packs.push(launch(from, piece.from(), inOrder(outbox, place, piece.from().shape)));
      if (inbox) unpacks.push(launch(to, inOrder(inbox, place, piece.to().shape), piece.to()));
      place += piece.size;
    }
  }
  return {
    rounds: [
      { launches: members.map(({ packs }) => packs), copies },
      { launches: members.map(({ unpacks }) => unpacks), copies: [] },
    ],
    free() {
      for (const { packs, unpacks } of members) for (const each of [...packs, ...unpacks]) each.free();
      for (const made of buffers) made.free();
    },
  };
}

/** By kernel axis: where members begin. Rows along x are whole, so members are numbered along y, then along z. */
function startsOf({ partitions, dimension }: Grid): number[][] {
  const { y } = divisionIn(partitions);
  const rows = partitions.slice(0, y).map(({ rows: [first] = [0] }) => first);
  const planes = partitions.filter((_, m) => m % y === 0).map(({ first }) => first);
  return dimension === 3 ? [planes, rows, [0]] : [planes, [0]];
}

/** @param extent of a periodic axis, along which coordinates come round */
function runsOf([first, end]: readonly [number, number], shift: number, extent: number | undefined): Run[] {
  if (extent === undefined) return [{ to: first, from: first - shift, length: end - first }];
  const runs: Run[] = [];
  for (let to = first; to < end;) {
    const from = (((to - shift) % extent) + extent) % extent;
    const length = Math.min(end - to, extent - from);
    runs.push({ to, from, length });
    to += length;
  }
  return runs;
}

/** Cuts a run where members begin. Ghosts are of the member next to them. */
function slabsOf({ to, from, length }: Run, starts: readonly number[]): Slab[] {
  const ownerOf = (cell: number): number =>
    Math.max(
      0,
      starts.findLastIndex((first) => first <= cell),
    );
  const left = (cell: number): number => (starts[ownerOf(cell) + 1] ?? Infinity) - cell;
  const slabs: Slab[] = [];
  for (let done = 0; done < length;) {
    const [target, source] = [to + done, from + done];
    const taken = Math.min(length - done, left(target), left(source));
    slabs.push({ to: target, from: source, length: taken, source: ownerOf(source), target: ownerOf(target) });
    done += taken;
  }
  return slabs;
}

/** Numbers that follow each other: the first, and how many there are. */
function consecutive(numbers: readonly number[]): [first: number, count: number][] {
  const groups: [number, number][] = [];
  for (const n of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = groups.at(-1);
    if (last && last[0] + last[1] === n) last[1]++;
    else groups.push([n, 1]);
  }
  return groups;
}

const componentsOf = ({ buffer, type, shape, strides, offset }: View, k: number, count: number): View =>
  new View(buffer, type, [count, ...shape.slice(1)], strides, offset + k * strides[0]);

/** With axes of one cell in front, where there are fewer. */
function asFour({ buffer, type, shape, strides, offset }: View): View {
  const ones = Array<number>(4 - shape.length);
  return new View(buffer, type, [...ones.fill(1), ...shape], [...ones.fill(0), ...strides], offset);
}

/** Values in a row, as a view of a box. */
function inOrder({ buffer, type, offset }: View, first: number, shape: readonly number[]): View {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  return new View(buffer, type, shape, strides, offset + first);
}
