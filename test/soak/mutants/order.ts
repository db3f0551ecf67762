import { basename } from "node:path";
import type { Job } from "../../jobs.js";
import { roomOf } from "./workspace.js";

/** A line of a compiled module. */
export interface Place {
  /** Path from the root of the repository. */
  readonly module: string;
  readonly line: number;
}

/** A test file that noticed a change, by its name, and the place of the change. */
export interface Noticed extends Place {
  readonly name: string;
}

/** How many leading folders two paths share. */
function shared(a: string, b: string): number {
  const [left, right] = [a.split("/"), b.split("/")];
  const end = left.findIndex((folder, k) => folder !== right[k]);
  return end < 0 ? left.length : end;
}

/**
 * Files in the order in which they are asked about a change at `place`: first those that noticed other changes to the module, the nearest line
 * first; then those of the module's name in its room; then the nearest to the room; then the quick ones, last those that have not run yet.
 */
export function inOrder(jobs: readonly Job[], seconds: ReadonlyMap<string, number>, place: Place, noticed: readonly Noticed[]): Job[] {
  const room = roomOf(place.module);
  const own = `${room}/${basename(place.module, ".js")}`;
  const distances = new Map<string, number>();
  for (const { module, line, name } of noticed)
    if (module === place.module) distances.set(name, Math.min(distances.get(name) ?? Infinity, Math.abs(line - place.line)));
  /** Compared from the first on: the lower, the earlier. */
  const ranks = new Map(
    jobs.map(({ name }) => [
      name,
      [distances.get(name) ?? Number.MAX_VALUE, name === own ? 0 : 1, -shared(room, name), seconds.get(name) ?? Number.MAX_VALUE],
    ]),
  );
  const compare = (a: readonly number[], b: readonly number[]): number => {
    const k = a.findIndex((rank, n) => rank !== b[n]);
    return k < 0 ? 0 : a[k] - b[k];
  };
  return [...jobs].sort((a, b) => compare(ranks.get(a.name)!, ranks.get(b.name)!));
}
