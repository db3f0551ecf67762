import { REDUCTION_CHUNK, REDUCTION_LANES } from "../../src/ir/types.js";

/*
 * The order of strict reductions (docs/determinism.md), written down once more and as plainly as possible, for the references.
 */

type Fold = (a: number, b: number) => number;

/** One value from the values that the elements of a line contribute, each in program order: eight lanes, then lane by lane. */
function foldLanes(elements: readonly (readonly number[])[], identity: number, fold: Fold): number {
  const lanes = Array<number>(REDUCTION_LANES).fill(identity);
  elements.forEach((values, j) => {
    for (const value of values) lanes[j % REDUCTION_LANES] = fold(lanes[j % REDUCTION_LANES], value);
  });
  for (let step = REDUCTION_LANES / 2; step >= 1; step /= 2) for (let k = 0; k < step; k++) lanes[k] = fold(lanes[k], lanes[k + step]);
  return lanes[0];
}

/** What a team's shared loop gives: `members[j]` lists the values of member j. */
export const foldTeam = foldLanes;

function foldChunks(line: readonly (readonly number[])[], identity: number, fold: Fold): number[] {
  const partials: number[] = [];
  for (let at = 0; at < line.length; at += REDUCTION_CHUNK) partials.push(foldLanes(line.slice(at, at + REDUCTION_CHUNK), identity, fold));
  return partials;
}

/** One value from partial results. */
export function foldPartials(partials: readonly number[], identity: number, fold: Fold): number {
  let left = partials;
  while (left.length > 1)
    left = foldChunks(
      left.map((p) => [p]),
      identity,
      fold,
    );
  return left.length ? left[0] : identity;
}

/** A range's result: `lines[l][j]` lists the values that element j of line l contributes. */
export const foldRange = (lines: readonly (readonly (readonly number[])[])[], identity: number, fold: Fold): number =>
  foldPartials(
    lines.flatMap((line) => foldChunks(line, identity, fold)),
    identity,
    fold,
  );
