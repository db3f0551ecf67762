import type { Launch } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { View } from "../../device/memory/view.js";
import type { Params } from "../../kernel/params.js";
import { isLocal, localOf } from "../../set/index.js";
import { moveKernel } from "../container/moves.js";
import type { Field, Grid, Roll } from "../grid/grid.js";
import type { HaloCopy, Rounds } from "../grid/parts.js";

/*
 * Copies of cells to other places. What a member has for another one, or for itself in the same field, is packed, sent in one piece and unpacked.
 */

/** Cells side by side along an axis: where they go, where they come from, and how many there are. */
interface Run {
  readonly to: number;
  readonly from: number;
  readonly length: number;
}

/** Along the cut axis they belong to two members at most. */
interface Slab extends Run {
  readonly source: number;
  readonly target: number;
}

/** The view of some cells of a member: components, then the grid's axes in kernel order, without z in 2D. */
export type CellsView = (field: Field, member: number, first: readonly number[], extents: readonly number[]) => View;

/** @param cellsOf is given coordinates in kernel order, counted from the member's first plane */
export function rollRounds(grid: Grid, { source, target, components, bounds, shift }: Roll, cellsOf: CellsView): Rounds {
  const { set, partitions } = grid;
  const runs = bounds.map((along, axis) => runsOf(along, shift[axis], grid.periodic[axis] ? grid.extents[axis] : undefined)).reverse();
  const slabs = runs[0].flatMap((run) => slabsOf(run, partitions));
  const boxes = runs.slice(1).reduce<Run[][]>((made, list) => made.flatMap((box) => list.map((run) => [...box, run])), [[]]);
  const groups = consecutive(components);

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
  for (const slab of slabs) {
    const pieces = boxes.flatMap((others) =>
      groups.map(([k, count]) => {
        const all = [slab, ...others];
        const extents = all.map(({ length }) => length);
        const view = (field: Field, member: number, place: "from" | "to"): View => {
          const first = all.map((run, axis) => run[place] - (axis === 0 ? partitions[member].first : 0));
          return asFour(componentsOf(cellsOf(field, member, first, extents), k, count));
        };
        const size = extents.reduce((product, extent) => product * extent, count);
        return { size, from: () => view(source, slab.source, "from"), to: () => view(target, slab.target, "to") };
      }),
    );
    const [isSource, isTarget] = [slab.source, slab.target].map((m) => isLocal(set.members[m]));
    const { packs } = members[slab.source];
    const { unpacks } = members[slab.target];
    if (slab.source === slab.target && source !== target) {
      if (isSource) packs.push(...pieces.map(({ from, to }) => launch(slab.source, from(), to())));
      continue;
    }
    const length = pieces.reduce((sum, { size }) => sum + size, 0);
    const outbox = isSource ? buffer(slab.source, length) : undefined;
    const inbox = slab.source === slab.target ? outbox : isTarget ? buffer(slab.target, length) : undefined;
    if (slab.source !== slab.target) copies.push({ from: slab.source, to: slab.target, source: outbox, target: inbox });
    let place = 0;
    for (const { size, from, to } of pieces) {
      if (outbox) packs.push(launch(slab.source, from(), inOrder(outbox, place, from().shape)));
      if (inbox) unpacks.push(launch(slab.target, inOrder(inbox, place, to().shape), to()));
      place += size;
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

/** Cuts a run of planes where members begin. Ghosts are of the member next to them. */
function slabsOf({ to, from, length }: Run, partitions: Grid["partitions"]): Slab[] {
  const ownerOf = (plane: number): number =>
    Math.max(
      0,
      partitions.findLastIndex(({ first }) => first <= plane),
    );
  const left = (plane: number): number => (partitions[ownerOf(plane) + 1]?.first ?? Infinity) - plane;
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
