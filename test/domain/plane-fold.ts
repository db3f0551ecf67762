/*
 * Strict folds along axes as docs/determinism.md defines them, written for clarity.
 */

type Fold = (a: number, b: number) => number;

/** Values of planes: eight after one another make a leaf, leaves side by side are paired until one is left. */
export function foldPlanes(planes: readonly number[], fold: Fold): number {
  let values: number[] = [];
  for (let first = 0; first < planes.length; first += 8) values.push(planes.slice(first, first + 8).reduce((a, b) => fold(a, b)));
  while (values.length > 1)
    values = values.flatMap((left, n) => (n % 2 === 1 ? [] : n + 1 < values.length ? [fold(left, values[n + 1])] : [left]));
  return values[0];
}

/** One plane, by rows: cells of a row go to 16 lanes in turn where `inLanes`, and lanes are folded in order at the end. */
export function foldPlane(rows: readonly (readonly number[])[], inLanes: boolean, identity: number, fold: Fold): number {
  const lanes = Array<number>(inLanes ? 16 : 1).fill(identity);
  for (const row of rows) row.forEach((value, x) => (lanes[x % lanes.length] = fold(lanes[x % lanes.length], value)));
  return lanes.reduce((a, b) => fold(a, b));
}
