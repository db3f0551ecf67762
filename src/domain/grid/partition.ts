import { describe } from "../../ir/describe.js";
import { LaunchError } from "../../ir/errors.js";
import type { GridOptions } from "./options.js";
import type { Partition } from "./parts.js";

/** Which cells of a box are active. */
export interface Activity {
  /** Bytes 0 or 1 in (z, y, x) order; undefined where every cell is active. */
  readonly mask: Uint8Array | undefined;
  /** Active cells of each plane of the last axis. */
  readonly planes: readonly number[];
  readonly cells: number;
}

/**
 * @param extents cells along x, y (and z)
 * @throws LaunchError for extents that are none, a mask of another size, and a domain without an active cell
 */
export function activityOf(extents: readonly number[], active: GridOptions["active"]): Activity {
  if (extents.length < 2 || extents.length > 3 || extents.some((n) => !(Number.isInteger(n) && n >= 1 && n < 2 ** 31)))
    throw new LaunchError(`a grid of [${extents}] cells: give two or three whole numbers from 1 to 2147483647, [nx, ny] or [nx, ny, nz]`);
  const [nx, ny, nz = 1] = extents;
  const last = extents.at(-1)!;
  const plane = (nx * ny * nz) / last;
  if (active === undefined) return { mask: undefined, planes: Array<number>(last).fill(plane), cells: plane * last };
  if (typeof active !== "function" && !ArrayBuffer.isView(active))
    throw new LaunchError(`a grid is given ${describe(active)} for its active cells; give a function of x, y and z, or a Uint8Array`);
  const mask = typeof active === "function" ? tabulate(active, nx, ny, nz) : active.map((byte) => (byte ? 1 : 0));
  if (mask.length !== plane * last)
    throw new LaunchError(
      `a mask of ${mask.length} bytes for a grid of [${extents}] cells: give one byte for each of the ${plane * last} cells`,
    );
  const planes = Array.from({ length: last }, (_, p) => mask.subarray(p * plane, (p + 1) * plane).reduce((a, b) => a + b, 0));
  const cells = planes.reduce((a, b) => a + b, 0);
  if (cells === 0) throw new LaunchError(`a grid of [${extents}] cells of which none is active: the domain is empty; check \`active\``);
  return { mask: cells === mask.length ? undefined : mask, planes, cells };
}

/**
 * By axis: whether it is periodic.
 * @throws LaunchError where there is not one truth value for each axis
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

/** The planes [first, end) of a box of `planes`, at most one turn before and behind it, in runs. */
export function planeRuns(first: number, end: number, planes: number): PlaneRun[] {
  const cuts = [first, ...[0, planes].filter((cut) => cut > first && cut < end), end];
  return cuts.slice(1).map((stop, n) => ({ first: cuts[n], end: stop, boxPlane: (cuts[n] + planes) % planes }));
}

/**
 * Planes at whose multiples the partitions of a grid begin that can be coarsened so often.
 * @throws LaunchError where `levels` is no count
 */
export function planesTogether(extents: readonly number[], levels = 0): number {
  if (!Number.isInteger(levels) || levels < 0)
    throw new LaunchError(`a grid of [${extents}] cells with ${levels} coarser levels: give a whole number from 0`);
  return 2 ** levels;
}

/** Whether a cell of twice the size is active: if one of its fine cells is. */
export function coarseMask(mask: Uint8Array, extents: readonly number[]): (x: number, y: number, z: number) => boolean {
  const [nx, ny, nz = 1] = extents;
  const pair = (n: number, extent: number): number[] => [2 * n, 2 * n + 1].filter((fine) => fine < extent);
  return (x, y, z) => pair(z, nz).some((cz) => pair(y, ny).some((cy) => pair(x, nx).some((cx) => mask[(cz * ny + cy) * nx + cx] !== 0)));
}

function tabulate(active: (x: number, y: number, z: number) => boolean, nx: number, ny: number, nz: number): Uint8Array {
  const mask = new Uint8Array(nx * ny * nz);
  let n = 0;
  for (let z = 0; z < nz; z++) for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++) mask[n++] = active(x, y, z) ? 1 : 0;
  return mask;
}

/**
 * Cuts planes into runs, one for each of `members`, of about equal numbers of active cells. Every run has at least `least` planes and,
 * but for the last, starts at a multiple of `step`.
 * @throws LaunchError where there are too few planes
 */
export function partition(planes: readonly number[], members: number, least = 1, step = 1): Partition[] {
  const blocks = Math.ceil(planes.length / step);
  const narrowest = Math.ceil(Math.max(1, least) / step);
  if (blocks < members * narrowest)
    throw new LaunchError(
      `${planes.length} planes for ${members} members: each needs at least ${narrowest * step}${step > 1 ? ` (a multiple of ${step})` : ""}; ` +
        `use fewer devices or a longer last axis`,
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
