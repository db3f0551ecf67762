import { GRID_LIMIT } from "../../schedule/constants.js";

/*
 * How many blocks, or workgroups, a grid has along an axis. Launches over more go over their elements in strides; small launches do so only
 * where the limit is lowered, as tests of strides do.
 */

let limit: number = GRID_LIMIT;

/** The most groups along one axis of a grid that is planned now. */
export const groupLimit = (): number => limit;

/** Runs `run`, in which launches are planned with at most `most` groups along each axis that has a limit. */
export async function withGroupLimit<Result>(most: number, run: () => Promise<Result>): Promise<Result> {
  const before = limit;
  limit = most;
  try {
    return await run();
  } finally {
    limit = before;
  }
}
