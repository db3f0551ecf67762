import type { Grid } from "../grid/grid.js";
import type { Partition } from "../grid/parts.js";

/** Properties of a grid that determine its cells. */
type Box = Pick<Grid, "extents" | "periodic" | "mask">;

/** How a column holds a number. */
type Rounding = (value: number) => number;
export const roundingOf = (type: string): Rounding => (type === "f32" ? Math.fround : (value) => value);

/**
 * Finds the cell of a position, as kernels do: that whose coordinates are the elements of `x` from `begin` on. It gives the cell's index in (z, y, x)
 * order, or -1 where there is no active cell.
 */
export function cellFinder({ extents, periodic, mask }: Box, round: Rounding): (x: ArrayLike<number>, begin: number) => number {
  const wrapped = (at: number, length: number): number => {
    const inside = round(at - round(length * Math.floor(round(at / length))));
    return inside < length ? inside : 0;
  };
  return (x, begin) => {
    let cell = 0;
    for (let a = extents.length - 1; a >= 0; a--) {
      const length = extents[a];
      let at = round(x[begin + a]);
      if (periodic[a] && Number.isFinite(at) && !(at >= 0 && at < length)) at = wrapped(at, length);
      if (!(at >= 0 && at < length)) return -1;
      cell = cell * length + Math.floor(at);
    }
    return mask === undefined || mask[cell] !== 0 ? cell : -1;
  };
}

/**
 * The particles of each member, by their cells, in the order in which they are given.
 * @param x coordinates, particle after particle
 * @param refuse is called with the number of a particle that is in no cell
 */
export function shareOut(
  grid: Box & Pick<Grid, "partitions">,
  x: ArrayLike<number>,
  round: Rounding,
  refuse: (particle: number) => never,
): Int32Array[] {
  const { extents, partitions } = grid;
  const axes = extents.length;
  const total = x.length / axes;
  const plane = extents.slice(0, -1).reduce((a, b) => a * b, 1);
  const cellOf = cellFinder(grid, round);
  const [rows, width] = axes === 3 ? [extents[1], extents[0]] : [1, plane];
  const has = ({ first, planes, rows: own = [0, rows] }: Partition, at: number, row: number): boolean =>
    at >= first && at < first + planes && row >= own[0] && row < own[1];
  const owners = new Uint16Array(total);
  const counts = partitions.map(() => 0);
  for (let n = 0; n < total; n++) {
    const cell = cellOf(x, n * axes);
    if (cell < 0) refuse(n);
    const at = Math.floor(cell / plane);
    const row = Math.floor((cell - at * plane) / width);
    const owner = partitions.findIndex((partition) => has(partition, at, row));
    owners[n] = owner;
    counts[owner]++;
  }
  const members = counts.map((count) => new Int32Array(count));
  const next = counts.fill(0);
  for (let n = 0; n < total; n++) members[owners[n]][next[owners[n]]++] = n;
  return members;
}
