import type { TeamPolicy, View } from "isoform";
import { teams } from "isoform";

/*
 * Right-hand sides that are solved for in one pass over the matrix. Vectors are [element][side], so that what a row reads of an unknown lies together; scalars are
 * [side]. Kernels are written once for any number of sides: with one they are the code of a single solution.
 */

/** Numbers of sides that a solution can have. */
export const SIDES = [1, 2, 4] as const;
export type Sides = (typeof SIDES)[number];

/** Threads of a GPU's warp. */
const WARP = 32;

/** Teams for `count` things, `groups` of sides each: teams of one thing share a warp on GPUs, as they read the same; a team that is alone has `size` members. */
export const teamsOfSides = (count: number, groups: number, size?: number): TeamPolicy =>
  groups === 1 ? teams(count, { size }) : teams(count * groups, { size: WARP / groups, abreast: groups });

/** A kernel, or what else depends on the number of sides, made once for each. */
export function bySides<T>(make: (sides: number) => T): (sides: number) => T {
  const made = new Map<number, T>();
  return (sides) => {
    const known = made.get(sides) ?? make(sides);
    made.set(sides, known);
    return known;
  };
}

/** The elements of a vector, side after side. */
export const flat = (vector: View<"f64">): View<"f64"> => vector.reshape(vector.size);
