import type { Policy, RangePolicy, TeamPolicy } from "../ir/launch.js";
import { LaunchError } from "../kernel/errors.js";

export type { Policy, RangePolicy, TeamPolicy };

type Bound = number | readonly [begin: number, end: number];

/** `range(n)`, `range(nx, ny)`, or with begin and end: `range([1, nx - 1], [1, ny - 1])`. The last axis is innermost. */
export function range(...bounds: Bound[]): RangePolicy {
  if (bounds.length < 1 || bounds.length > 4) throw new LaunchError(`range of rank ${bounds.length}: a range has 1 to 4 axes`);
  const begin = bounds.map((b) => (typeof b === "number" ? 0 : b[0]));
  const extents = bounds.map((b) => (typeof b === "number" ? b : b[1] - b[0]));
  extents.forEach((n, axis) => {
    if (!Number.isInteger(begin[axis]) || !Number.isInteger(n) || n < 0 || begin[axis] + n > 0x7fffffff || begin[axis] < -0x80000000)
      throw new LaunchError(
        `range axis ${axis} has ${n} indices from ${begin[axis]}: it needs a whole number from 0 to 2147483647, from a whole number on`,
      );
  });
  return { kind: "range", begin, extents };
}

/** A league of teams for a team kernel; of `size` members each, and `lanes` lanes (a power of two) a member, or near it. Devices choose what is left out. */
export function teams(league: number, options: { size?: number; lanes?: number } = {}): TeamPolicy {
  if (!Number.isInteger(league) || league < 0 || league > 0x7fffffff)
    throw new LaunchError(`a league of ${league} teams: it needs a whole number from 0 to 2147483647`);
  const { size, lanes } = options;
  if (size !== undefined && !(Number.isInteger(size) && size > 0))
    throw new LaunchError(`teams of ${size} members: a size is a whole number of at least 1; leave it out to let the device choose`);
  if (lanes !== undefined && !(Number.isInteger(Math.log2(lanes)) && lanes >= 1))
    throw new LaunchError(`members of ${lanes} lanes: their number is a power of two; leave it out to let the device choose`);
  return { kind: "team", league, size, lanes };
}
