import type { Split } from "../../domain/grid/options.js";
import { placeInDivision, type Division } from "../../domain/grid/split.js";
import type { PlanPattern, TaskPart } from "./pattern.js";

/** Members along an axis that have a first, an inner and a last one. */
const MEMBERS = 3;
/** Places of a rank along a cut axis. */
export const RANK_PLACES = ["first", "inner", "last"] as const;
/** One of `RANK_PLACES` along y and along z; "first" along an axis that is not cut. */
export interface RankPlace {
  readonly y: (typeof RANK_PLACES)[number];
  readonly z: (typeof RANK_PLACES)[number];
}
/** Ranks from one to another along y and along z. */
export type RankStep = readonly [y: number, z: number];

/** Axes along which ranks are cut. */
type CutAxes = "z" | "y" | "yz";
export const axesOf = ({ y, z }: Division): CutAxes => (y === 1 ? "z" : z === 1 ? "y" : "yz");

/** Work and messages of a task on a rank at some place, on a grid of any extents. */
interface PlacedPart {
  readonly launches: number;
  /** Cells of all launches on a rank with this many cells along each axis. */
  readonly cells: (along: readonly number[]) => number;
  /** Messages to ranks beside it, with their bytes for a rank with this many cells along each axis. */
  readonly sends: readonly { readonly step: RankStep; readonly bytes: (along: readonly number[]) => number }[];
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
  readonly at: (place: RankPlace) => PlacedPart;
  /** Moved for each cell, by the counting rule. */
  readonly bytesPerCell: number;
  /** Bytes of the value of each reduction that it completes. */
  readonly reduced: readonly number[];
  /** It completes reductions over a region, or over a coarser grid. */
  readonly ofSome?: boolean;
  /** It packs or unpacks halos, which one rank alone does not. */
  readonly packs?: boolean;
}

/** A plan for ranks of any number, with any box. */
export interface RankPlan extends Pick<PlanPattern, "name" | "level" | "precision" | "iterations"> {
  /** Tasks of one rank that has all of the box. */
  readonly alone: readonly RankTask[];
  /** Tasks of each of several, by the axes along which they are cut. */
  readonly shared: Readonly<Partial<Record<CutAxes, readonly RankTask[]>>>;
  /** Cells of the grid beyond those that were asked for, by axis: walls. */
  readonly margins: readonly number[];
}

/** Cells along each axis of the cubes that plans are made of: 16 planes or rows for each of three members, more than halos need, in rows that may be packed. */
export const SAMPLE_SIZE = 48;

/** A set on one device, and how a grid is cut on it. */
interface Sample {
  readonly set: string;
  readonly split?: Split;
}

/** Samples for a plan of ranks that are cut in some way: one member, then sets with all places of the divisions that may be. */
export function samplesFor(device: string, split: Split = "z"): readonly Sample[] {
  const ways: readonly CutAxes[] = split === "z" || split === "y" ? [split] : ["z", "y", "yz"];
  const sets = ways.map((way): Sample => ({
    set: `${device}*${way === "yz" ? MEMBERS ** 2 : MEMBERS}`,
    split: way === "z" ? undefined : way,
  }));
  return [{ set: device }, ...sets];
}

/**
 * A plan for any number of ranks and any box from small ones. What a launch computes grows with the box along the axes where it takes more than half of the
 * small one; along the others, as on a wall, it has the same cells on any box.
 * @param patterns of one skeleton on a cube, on one member and on the others of `samplesFor`
 */
export function rankPlanOf([one, ...several]: readonly PlanPattern[]): RankPlan {
  const { name, level, precision, iterations, extents } = several[0];
  const margins = extents.map((extent) => extent - SAMPLE_SIZE);
  const perCell = new Map(one.tasks.map((task) => [task.container, bytesPerCell(task.parts[0])]));
  const shared = Object.fromEntries(several.map((pattern) => [axesOf(pattern.division), tasksOf(pattern, perCell)]));
  return { name, level, precision, iterations, margins, alone: tasksOf(one, perCell), shared };
}

const bytesPerCell = ({ bytes, boxes }: TaskPart): number => bytes / Math.max(1, cellsIn(boxes));

/** Cells of all boxes. */
export const cellsIn = (boxes: readonly (readonly number[])[]): number =>
  boxes.reduce((sum, box) => sum + box.reduce((cells, length) => cells * length, 1), 0);

function tasksOf({ tasks, extents, division, planes, rows }: PlanPattern, perCell: ReadonlyMap<string, number>): RankTask[] {
  const memberAt = ({ y, z }: RankPlace): number => nth(y, division.y) + division.y * nth(z, division.z);
  return tasks.map(({ parts, ...task }) => {
    const placed = parts.map((part, member) => {
      const own = [...extents.slice(0, -1).map((n, axis) => (axis === 1 ? (rows[member] ?? n) : n)), planes[member]];
      return placedPart(part, member, own, division);
    });
    return {
      ...task,
      // Halos are packed only where there are several members.
      bytesPerCell: perCell.get(task.container) ?? Math.max(...parts.map(bytesPerCell)),
      at: (place) => placed[memberAt(place)],
    };
  });
}

/** Number of a place among some members along an axis. */
const nth = (place: (typeof RANK_PLACES)[number], members: number): number =>
  place === "first" ? 0 : place === "last" ? members - 1 : Math.min(1, members - 1);

/** @param own cells of the member in the pattern */
function placedPart({ boxes, sends }: TaskPart, member: number, own: readonly number[], division: Division): PlacedPart {
  const grown = (along: readonly number[]): number[][] =>
    boxes.map((box) => box.map((length, axis) => (2 * length > own[axis] ? Math.max(0, length + along[axis] - own[axis]) : length)));
  return {
    launches: boxes.length,
    cells: (along) => cellsIn(grown(along)),
    sends: sends.map(({ to, bytesOn }) => ({ step: stepTo(member, to, division), bytes: bytesOn })),
  };
}

/** Up to one rank up or down along each axis; the ends of three members are neighbours where the axis is periodic. */
function stepTo(from: number, to: number, division: Division): RankStep {
  const [here, there] = [placeInDivision(division, from), placeInDivision(division, to)];
  const along = (distance: number, members: number): number => (distance === 0 ? 0 : (distance + members) % members === 1 ? 1 : -1);
  return [along(there.y - here.y, division.y), along(there.z - here.z, division.z)];
}
