import type { PlanPattern, TaskPart } from "./pattern.js";

/** Members of a set that has a first, an inner and a last one. */
const MEMBERS = 3;
/** Places of a rank along the cut axis. */
export const PLACES = ["first", "inner", "last"] as const;
/** One of `PLACES`. */
export type Place = (typeof PLACES)[number];

/** Work and messages of a task on a rank at some place, on a grid of any extents. */
export interface PlacedPart {
  readonly launches: number;
  /** Cells of all launches on a rank with this many cells along each axis. */
  readonly cells: (along: readonly number[]) => number;
  /** Messages to the rank after it (1) or before it (-1), with their bytes on a grid. */
  readonly sends: readonly { readonly step: 1 | -1; readonly bytes: (extents: readonly number[]) => number }[];
}

/** A task of every rank. */
export interface RankTask {
  readonly name: string;
  readonly kind: "compute" | "halo" | "collect";
  /** Container that it runs, whichever of its cells. */
  readonly container: string;
  readonly stream: number;
  /** Tasks that come before it, by number. */
  readonly waits: readonly number[];
  readonly at: Readonly<Record<Place, PlacedPart>>;
  /** Moved for each cell, by the counting rule. */
  readonly bytesPerCell: number;
  /** Bytes of the value of each reduction that it completes. */
  readonly reduced: readonly number[];
}

/** A plan for ranks of any number, with any box. */
export interface RankPlan extends Pick<PlanPattern, "name" | "level" | "precision" | "iterations"> {
  /** Tasks of one rank that has all of the box. */
  readonly alone: readonly RankTask[];
  /** Tasks of each of several. */
  readonly shared: readonly RankTask[];
  /** Cells of the grid beyond those that were asked for, by axis: walls. */
  readonly margins: readonly number[];
}

/** Patterns of one skeleton on a cube, on one member and on three. */
export interface Samples {
  readonly one: PlanPattern;
  readonly three: PlanPattern;
}

/** Cells along each axis of the cubes that plans are made of: 16 planes for each of three members, more than halos need, in rows that may be packed. */
export const SAMPLE_SIZE = 48;
/** Sets of one member and of three, on one device. */
export const sampleSets = (device: string): readonly [one: string, three: string] => [device, `${device}*${MEMBERS}`];

/**
 * A plan for any number of ranks and any box from two small ones. What a launch computes grows with the box along the axes where it takes more than half of the
 * small one; along the others, as on a wall, it has the same cells on any box.
 */
export function rankPlanOf({ one, three }: Samples): RankPlan {
  const { name, level, precision, iterations, extents } = three;
  const margins = extents.map((extent) => extent - SAMPLE_SIZE);
  const perCell = new Map(one.tasks.map((task) => [task.container, task.parts[0].bytes / Math.max(1, cellsIn(task.parts[0].boxes))]));
  return { name, level, precision, iterations, margins, alone: tasksOf(one, perCell), shared: tasksOf(three, perCell) };
}

/** Cells of all boxes. */
export const cellsIn = (boxes: readonly (readonly number[])[]): number =>
  boxes.reduce((sum, box) => sum + box.reduce((cells, length) => cells * length, 1), 0);

function tasksOf({ tasks, extents, planes }: PlanPattern, perCell: ReadonlyMap<string, number>): RankTask[] {
  const last = planes.length - 1;
  return tasks.map(({ parts, ...task }) => {
    const placed = (member: number): PlacedPart =>
      placedPart(parts[member], member, [...extents.slice(0, -1), planes[member]], planes.length);
    return {
      ...task,
      bytesPerCell: perCell.get(task.container) ?? 0,
      at: { first: placed(0), inner: placed(Math.min(1, last)), last: placed(last) },
    };
  });
}

/** @param own cells of the member in the pattern */
function placedPart({ boxes, sends }: TaskPart, member: number, own: readonly number[], members: number): PlacedPart {
  const grown = (along: readonly number[]): number[][] =>
    boxes.map((box) => box.map((length, axis) => (2 * length > own[axis] ? Math.max(0, length + along[axis] - own[axis]) : length)));
  return {
    launches: boxes.length,
    cells: (along) => cellsIn(grown(along)),
    sends: sends.map(({ to, bytesOn }) => ({ step: stepTo(member, to, members), bytes: bytesOn })),
  };
}

/** One rank up or down; the ends of three members are neighbours where the cut axis is periodic. */
function stepTo(from: number, to: number, members: number): 1 | -1 {
  const up = (((to - from) % members) + members) % members;
  return up === 1 ? 1 : -1;
}
