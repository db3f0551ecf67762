import type { Device, Launch, View } from "isoform";
import { f64, i32, kernel, view } from "isoform";
import type { Shape } from "./shape.js";

/*
 * Sums of coefficients times u over lists of rows (slices.ts), from copies of the coefficients in the order of the lists. Each sum is one thread's, so
 * nothing is added atomically, and sums are the same in each run; neighbouring threads read neighbouring coefficients.
 */

/** Rows of a tile: 8 MiB of u, which stay in a GPU's cache while its lists are summed up. On an H200 16 MiB take 1.02 of the time, 32 MiB 1.25. */
export const TILE_ROWS = 2 ** 20;

export const tilesOf = ({ observations }: Pick<Shape, "observations">, tileRows = TILE_ROWS): number => Math.ceil(observations / tileRows);

/** A launch, as one of an iteration's steps. */
export interface ListStep {
  readonly name: string;
  launch: Launch;
}

/** A section of A^T u that comes from a copy of its coefficients. */
export interface SortedSection {
  /** Sums up each list. */
  sums(u: View<"f64">): ListStep[];
  /** Adds the lists' sums to `t`. */
  finish(t: View<"f64">): ListStep[];
  free(): void;
}

/** An array of numbers as kernels see one. */
export interface Numbers {
  readonly [place: number]: number;
}

/** Coefficients in the order of lists, the row of each, and where lists lie. */
const LISTS = { row: view(i32), list: view(i32), start: view(i32), length: view(i32), u: view(f64) };

/** A kernel that leaves for each list the sums of `width` coefficients a row times u. */
export const listSums = (name: string, width: number) =>
  kernel(
    name,
    { a: view(f64, 2), ...LISTS, sums: view(f64, 2, { disjoint: true }) },
    ({ a, row, list, start, length, u, sums }, place) => {
      const s = new Float64Array(width);
      const begin = start[place];
      for (let n = 0; n < length[place]; n++) {
        const e = begin + 32 * n;
        const t = u[row[e]];
        for (let k = 0; k < width; k++) s[k] += a[e][k] * t;
      }
      const g = list[place];
      for (let k = 0; k < width; k++) sums[g][k] = s[k];
    },
    () => [width],
  );

/** Leaves for each list the sum of one coefficient a row times u. */
export const oneSum = (name: string) =>
  kernel(name, { a: view(f64), ...LISTS, sums: view(f64, 1, { disjoint: true }) }, ({ a, row, list, start, length, u, sums }, place) => {
    let sum = 0;
    const begin = start[place];
    for (let n = 0; n < length[place]; n++) {
      const e = begin + 32 * n;
      sum += a[e] * u[row[e]];
    }
    sums[list[place]] = sum;
  });

/** Copies `width` neighbouring coefficients of rows, or chosen ones. */
export const gatherRows = kernel(
  "gatherRows",
  { row: view(i32), column: view(i32), a: view(f64, 2), sorted: view(f64, 2) },
  ({ row, column, a, sorted }, e) => {
    for (let k = 0; k < column.length; k++) sorted[e][k] = a[row[e]][column[k]];
  },
);

/** Copies lists of numbers to a device. */
export const upload = <K extends string>(device: Device, lists: Record<K, Int32Array>): Record<K, View<"i32">> =>
  Object.fromEntries(Object.entries<Int32Array>(lists).map(([name, list]) => [name, device.from(i32, list)])) as Record<K, View<"i32">>;
