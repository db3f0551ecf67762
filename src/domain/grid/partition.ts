import { LaunchError } from "../../base/errors.js";
import type { GridOptions } from "./options.js";
import type { Partition } from "./parts.js";

/**
 * By axis: whether it is periodic.
 * @throws LaunchError if there is not one truth value for each axis
 */
export function periodicAxes(extents: readonly number[], periodic: GridOptions["periodic"] = false): readonly boolean[] {
  const axes = typeof periodic === "boolean" ? extents.map(() => periodic) : periodic;
  if (!Array.isArray(axes) || axes.length !== extents.length || axes.some((ends) => typeof ends !== "boolean"))
    throw new LaunchError(
      `a grid of [${extents}] cells with { periodic: ${JSON.stringify(periodic)} }: give true, or true or false for each of its ${extents.length} axes`,
    );
  return [...axes];
}

/** Planes that lie together in the box: [first, end) as one counts on beyond the ends of a periodic axis, and where the run begins in the box. */
export interface PlaneRun {
  readonly first: number;
  readonly end: number;
  readonly boxPlane: number;
}

/** The planes [first, end) of a box of `planes`, at most one turn before and after it, in runs. */
export function planeRuns(first: number, end: number, planes: number): PlaneRun[] {
  const cuts = [first, ...[0, planes].filter((cut) => cut > first && cut < end), end];
  return cuts.slice(1).map((stop, n) => ({ first: cuts[n], end: stop, boxPlane: (cuts[n] + planes) % planes }));
}

/**
 * Planes at whose multiples the partitions of a grid begin if it can be coarsened `levels` times.
 * @throws LaunchError if `levels` is not a count
 */
export function planesTogether(extents: readonly number[], levels = 0): number {
  if (!Number.isInteger(levels) || levels < 0)
    throw new LaunchError(`a grid of [${extents}] cells with ${levels} coarser levels: give a whole number from 0`);
  return 2 ** levels;
}

/** Names of what is cut, for messages. */
interface Layers {
  readonly name: string;
  readonly remedy: string;
}

const PLANES: Layers = { name: "planes", remedy: "use fewer devices or a longer last axis" };
/** Rows of a grid that is cut along y. */
export const ROWS: Layers = { name: "rows", remedy: "use fewer devices or a longer y axis" };

/**
 * Cuts planes into runs, one for each of `members`, of about equal numbers of active cells. Every run has at least `least` planes and,
 * but for the last, starts at a multiple of `step`.
 * @throws LaunchError if there are too few planes
 */
export function partition(planes: readonly number[], members: number, least = 1, step = 1, { name, remedy } = PLANES): Partition[] {
  const blocks = Math.ceil(planes.length / step);
  const narrowest = Math.ceil(Math.max(1, least) / step);
  if (blocks < members * narrowest)
    throw new LaunchError(
      `${planes.length} ${name} for ${members} members: each needs at least ${narrowest * step}${step > 1 ? ` (a multiple of ${step})` : ""}; ${remedy}`,
    );
  const sums = [0];
  for (const cells of planes) sums.push(sums.at(-1)! + cells);
  const at = (block: number): number => sums[Math.min(block * step, planes.length)];
  const cuts = [0];
  for (let m = 1; m < members; m++) {
    const target = (sums.at(-1)! * m) / members;
    const [first, last] = [cuts[m - 1] + narrowest, blocks - (members - m) * narrowest];
    let cut = first;
    while (cut < last && Math.abs(at(cut + 1) - target) <= Math.abs(at(cut) - target)) cut++;
    cuts.push(cut);
  }
  cuts.push(blocks);
  return Array.from({ length: members }, (_, device) => {
    const [first, end] = [cuts[device] * step, Math.min(cuts[device + 1] * step, planes.length)];
    return { device, first, planes: end - first, cells: sums[end] - sums[first] };
  });
}
