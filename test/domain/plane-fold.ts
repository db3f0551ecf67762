/*
 * Strict folds along axes as docs/determinism.md defines them, written for clarity.
 */

type Fold = (a: number, b: number) => number;

/** Values side by side are paired until one is left. */
function pair(leaves: readonly number[], fold: Fold): number {
  let values = leaves;
  while (values.length > 1)
    values = values.flatMap((left, n) => (n % 2 === 1 ? [] : n + 1 < values.length ? [fold(left, values[n + 1])] : [left]));
  return values[0];
}

/** Values of planes: eight after one another make a leaf, and leaves are paired. */
export function foldPlanes(planes: readonly number[], fold: Fold): number {
  const leaves: number[] = [];
  for (let first = 0; first < planes.length; first += 8) leaves.push(planes.slice(first, first + 8).reduce((a, b) => fold(a, b)));
  return pair(leaves, fold);
}

/** Planes by rows, where rows are folded, too: leaves end at multiples of eight rows of the grid. In each the planes are folded, then leaves are paired. */
export function foldRows(
  planes: readonly (readonly (readonly number[])[])[],
  firstRow: number,
  inLanes: boolean,
  identity: number,
  fold: Fold,
): number {
  const leaves: number[] = [];
  for (let row = 0, next = 0; row < planes[0].length; row = next) {
    next = row + 8 - ((((firstRow + row) % 8) + 8) % 8);
    leaves.push(
      foldPlanes(
        planes.map((rows) => foldPlane(rows.slice(row, next), inLanes, identity, fold)),
        fold,
      ),
    );
  }
  return pair(leaves, fold);
}

/** One plane, by rows: cells of a row go to 16 lanes in turn where `inLanes`, and lanes are folded in order at the end. */
export function foldPlane(rows: readonly (readonly number[])[], inLanes: boolean, identity: number, fold: Fold): number {
  const lanes = Array<number>(inLanes ? 16 : 1).fill(identity);
  for (const row of rows) row.forEach((value, x) => (lanes[x % lanes.length] = fold(lanes[x % lanes.length], value)));
  return lanes.reduce((a, b) => fold(a, b));
}
