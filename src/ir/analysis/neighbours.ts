import type { Access, AccessAnalysis } from "./access.js";
import { equal, type Affine } from "./affine.js";

/** Most elements of a vector. */
const MOST = 16;

/**
 * Views in which an element or a turn reads, or writes, neighbours along the last axis that begin at an even place, such as the components of a
 * record: a compiler that knows how the view lies takes them at once.
 */
export function viewsWithNeighbours({ accesses }: AccessAnalysis): ReadonlySet<string> {
  const even = accesses.filter(({ kind, affine }) => kind !== "scatter" && kind !== "atomic" && startsEven(affine.at(-1)));
  const found = new Set<string>();
  for (const [n, one] of even.entries())
    if (!found.has(one.view) && even.slice(n + 1).some((other) => areNeighbours(one, other))) found.add(one.view);
  return found;
}

const startsEven = (last: Affine | undefined): boolean => last !== undefined && Object.values(last.terms).every((by) => by % 2 === 0);

function areNeighbours(one: Access, other: Access): boolean {
  if (one.view !== other.view || one.kind !== other.kind) return false;
  const [a, b] = [one.affine, other.affine];
  const [first, second] = [a.at(-1)!, b.at(-1)!];
  const distance = Math.abs(first.constant - second.constant);
  if (distance === 0 || distance >= MOST || !equal({ ...first, constant: 0 }, { ...second, constant: 0 })) return false;
  return a.slice(0, -1).every((form, axis) => form !== undefined && b[axis] !== undefined && equal(form, b[axis]));
}
