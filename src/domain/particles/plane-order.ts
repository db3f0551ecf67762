import { typedArray, type NumberArrayOf } from "../../device/memory/view.js";
import type { NumberType } from "../../ir/types.js";

/* Particles of members that have some of the rows of planes, in the order of all cells. */

/** Particles of a member in each plane of the grid. */
export interface InPlanes {
  readonly first: number;
  readonly counts: readonly number[];
}

/** Counts the particles in each plane of a member, from the starts of its cells' lists. */
export function countInPlanes(offsets: ArrayLike<number>, first: number, planes: number, planeCells: number): InPlanes {
  return { first, counts: Array.from({ length: planes }, (_, n) => offsets[(n + 1) * planeCells] - offsets[n * planeCells]) };
}

/**
 * Columns of members, each in the order of its cells, as one in the order of all cells: plane after plane, in each of them member after member.
 * @param members in the order of their numbers, so that members with lower rows of the same planes come first
 */
export function inPlaneOrder<T extends NumberType>(
  type: T,
  pieces: readonly NumberArrayOf<T>[],
  members: readonly InPlanes[],
  components: number,
): NumberArrayOf<T> {
  const all = typedArray(
    type,
    pieces.reduce((sum, { length }) => sum + length, 0),
  ) as NumberArrayOf<T>;
  const taken = members.map(() => 0);
  let at = 0;
  const end = Math.max(...members.map(({ first, counts }) => first + counts.length));
  for (let plane = Math.min(...members.map(({ first }) => first)); plane < end; plane++)
    for (const [m, { first, counts }] of members.entries()) {
      const length = (counts[plane - first] ?? 0) * components;
      all.set(pieces[m].subarray(taken[m], taken[m] + length), at);
      taken[m] += length;
      at += length;
    }
  return all;
}

/** A run of particles in the order of all cells: the number of its first one, and how many it has. */
export type ParticleRun = readonly [first: number, count: number];

/**
 * The runs of particles that some members have, in their order.
 * @param members all, in the order of their numbers
 * @param isOwn tells by number which have them
 */
export function runsInPlanes(members: readonly InPlanes[], isOwn: (member: number) => boolean): ParticleRun[] {
  const runs: [number, number][] = [];
  let at = 0;
  const end = Math.max(...members.map(({ first, counts }) => first + counts.length));
  for (let plane = Math.min(...members.map(({ first }) => first)); plane < end; plane++)
    for (const [m, { first, counts }] of members.entries()) {
      const count = counts[plane - first] ?? 0;
      const last = runs.at(-1);
      if (isOwn(m) && count > 0)
        if (last && last[0] + last[1] === at) last[1] += count;
        else runs.push([at, count]);
      at += count;
    }
  return runs;
}
