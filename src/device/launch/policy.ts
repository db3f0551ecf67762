import type { Policy, RangePolicy, TeamPolicy } from "../../ir/launch.js";
import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { requireOptions } from "../../base/own.js";

export type { Policy, RangePolicy, TeamPolicy };

type Bound = number | readonly [begin: number, end: number];

/**
 * `range(n)`, `range(nx, ny)`, or with begin and end: `range([1, nx - 1], [1, ny - 1])`. The last axis is innermost. `range(nx, ny, { tile: [8, 64] })`
 * asks for tiles of this many indices along each of several axes; results are the same.
 */
export function range(...bounds: Bound[]): RangePolicy;
export function range(...boundsAndOptions: [...Bound[], { tile?: readonly number[] }]): RangePolicy;
export function range(...given: (Bound | { tile?: readonly number[] })[]): RangePolicy {
  const options = given.find((g): g is { tile?: readonly number[] } => typeof g === "object" && !Array.isArray(g));
  const bounds = given.filter((g): g is Bound => g !== options);
  if (bounds.length < 1 || bounds.length > 4) throw new LaunchError(`range of rank ${bounds.length}: a range has 1 to 4 axes`);
  for (const [axis, bound] of bounds.entries())
    if (typeof bound !== "number" && !(Array.isArray(bound) && bound.length === 2))
      throw new LaunchError(`range axis ${axis} is given ${describe(bound)}: give a number of indices, or [begin, end]`);
  const begin = bounds.map((b) => (typeof b === "number" ? 0 : b[0]));
  const extents = bounds.map((b) => (typeof b === "number" ? b : b[1] - b[0]));
  extents.forEach((n, axis) => {
    if (
      !Number.isInteger(begin[axis]) ||
      !Number.isInteger(n) ||
      n < 0 ||
      n > 0x7fffffff ||
      begin[axis] + n > 0x7fffffff ||
      begin[axis] < -0x80000000
    )
      throw new LaunchError(
        `range axis ${axis} has ${n} indices from ${begin[axis]}: both are whole numbers, and an axis has 0 to 2147483647 indices`,
      );
  });
  requireOptions("range(...)", options ?? {}, ["tile"]);
  const { tile } = options ?? {};
  if (tile === undefined) return { kind: "range", begin, extents };
  if (bounds.length < 2 || tile.length !== bounds.length || tile.some((n) => !(Number.isInteger(n) && n > 0)))
    throw new LaunchError(
      `tiles of [${tile}] for a range of rank ${bounds.length}: a tile has a whole number of indices along each of 2 to 4 axes`,
    );
  return { kind: "range", begin, extents, tile: [...tile] };
}

/**
 * A league of teams for a team kernel; of `size` members each, and `lanes` lanes (a power of two) a member, or near it. Devices choose what is left out.
 * `abreast: 4` says that 4 neighbouring teams read the same, or neighbours of it: a GPU may let member m of one run beside member m of the next (docs/language.md).
 */
export function teams(league: number, options: { size?: number; lanes?: number; abreast?: number } = {}): TeamPolicy {
  if (!Number.isInteger(league) || league < 0 || league > 0x7fffffff)
    throw new LaunchError(`a league of ${describe(league)} teams: it needs a whole number from 0 to 2147483647`);
  requireOptions("teams(...)", options, ["size", "lanes", "abreast"]);
  const { size, lanes, abreast } = options;
  if (size !== undefined && !(Number.isInteger(size) && size > 0))
    throw new LaunchError(`teams of ${size} members: a size is a whole number of at least 1; leave it out to let the device choose`);
  if (lanes !== undefined && !(Number.isInteger(Math.log2(lanes)) && lanes >= 1))
    throw new LaunchError(`members of ${lanes} lanes: their number is a power of two; leave it out to let the device choose`);
  if (abreast !== undefined && !(Number.isInteger(Math.log2(abreast)) && abreast >= 1))
    throw new LaunchError(`${abreast} teams abreast: their number is a power of two; leave it out for one after the other`);
  return { kind: "team", league, size, lanes, abreast };
}
