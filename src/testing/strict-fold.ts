import { REDUCTION_CHUNK, REDUCTION_LANES } from "../ir/types.js";

/**
 * A reduction as strict mode defines it (docs/determinism.md), written for clarity: each line is cut into chunks, a chunk's element n
 * folds into lane n mod 8, the lanes fold pairwise, and the partial results are folded by the same rule until one is left.
 *
 * @param lines for each line of the range the value, or list of values, of each element
 */
export function strictFold<T = number>(lines: ArrayLike<T | readonly T[]>[], fold: (a: T, b: T) => T, identity: T): T {
  const partials = lines.flatMap((line) => {
    const elements = Array.from(line);
    return Array.from({ length: Math.ceil(elements.length / REDUCTION_CHUNK) }, (_, c) =>
      foldChunk(elements.slice(c * REDUCTION_CHUNK, (c + 1) * REDUCTION_CHUNK), fold, identity),
    );
  });
  if (partials.length === 0) return identity;
  return partials.length === 1 ? partials[0] : strictFold([partials], fold, identity);
}

/** One chunk, or all members of a team. */
export function foldChunk<T = number>(elements: (T | readonly T[])[], fold: (a: T, b: T) => T, identity: T): T {
  let lanes = Array<T>(REDUCTION_LANES).fill(identity);
  elements.forEach((element, n) => {
    for (const value of Array.isArray(element) ? (element as readonly T[]) : [element as T])
      lanes[n % REDUCTION_LANES] = fold(lanes[n % REDUCTION_LANES], value);
  });
  while (lanes.length > 1) lanes = lanes.slice(0, lanes.length / 2).map((a, k) => fold(a, lanes[k + lanes.length / 2]));
  return lanes[0];
}
