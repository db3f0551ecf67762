import type { Device, Launch, LaunchOptions, LayoutName, View } from "isoform";
import { f64, i32, kernel, range, view } from "isoform";
import type { Shape } from "./shape.js";
import type { Slices } from "./slices.js";
import { SLICE } from "./slices.js";

/*
 * Sums of coefficients times u over lists of rows (slices.ts), from copies of the coefficients in the order of the lists. Each sum is one thread's, so
 * nothing is added atomically, and sums are the same in each run; neighbouring threads read neighbouring coefficients.
 */

/**
 * Rows of a tile: 8 MiB of u, which stay in a GPU's cache while its lists are summed up. On an H200 an iteration of the random system of 10 GiB takes 1.02
 * times as long with 16 MiB, 1.11 times with 32.
 */
export const TILE_ROWS = 2 ** 20;

/** Number of tiles of a system. */
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
  /** Brings the lists' sums to `t`. */
  finish(t: View<"f64">): ListStep[];
  free(): void;
}

/** Places of lists (slices.ts), the row of each entry, and u. */
export const LISTS = { row: view(i32), list: view(i32), start: view(i32), length: view(i32), u: view(f64) };

/** A kernel that leaves for each list the sums of `width` coefficients a row times u. */
export const listSums = (name: string, width: number) =>
  kernel(
    name,
    { a: view(f64, 2), ...LISTS, sums: view(f64, 2, { disjoint: true }) },
    ({ a, row, list, start, length, u, sums }, place) => {
      const s = new Float64Array(width);
      const begin = start[place];
      for (let n = 0; n < length[place]; n++) {
        const e = begin + SLICE * n;
        const t = u[row[e]];
        for (let k = 0; k < width; k++) s[k] += a[e][k] * t;
      }
      const g = list[place];
      for (let k = 0; k < width; k++) sums[g][k] = s[k];
    },
    () => [width, SLICE],
  );

/** A kernel that leaves for each group the sums of its lists in all tiles (`first` of slices.ts, tile after tile). */
export const groupSums = (name: string) =>
  kernel(
    name,
    { sums: view(f64, 2), first: view(i32), tiles: i32, groups: i32, totals: view(f64, 2) },
    ({ sums, first, tiles, groups, totals }, group, k) => {
      let total = 0;
      for (let tile = 0; tile < tiles; tile++) {
        const place = tile * groups + group;
        const end = first[place + 1];
        for (let n = first[place]; n < end; n++) total += sums[n][k];
      }
      totals[group][k] = total;
    },
  );

/** Copies chosen coefficients of rows. */
const gatherRows = kernel(
  "gatherRows",
  { row: view(i32), column: view(i32), a: view(f64, 2), sorted: view(f64, 2) },
  ({ row, column, a, sorted }, e) => {
    for (let k = 0; k < column.length; k++) sorted[e][k] = a[row[e]][column[k]];
  },
);

/** Numbers of all rows in the order of lists, and the sums of each list. */
export interface CopiedLists {
  /** [list][sum] */
  readonly sums: View<"f64", 2>;
  /** Sums up each list. */
  step(u: View<"f64">): ListStep;
  free(): void;
}

/**
 * Copies `columns` of the coefficients `from` into the order of lists.
 * @param by kernel of `listSums` for as many coefficients
 */
export async function copyLists(
  device: Device,
  from: View<"f64", 2>,
  columns: readonly number[],
  slices: Slices,
  by: ReturnType<typeof listSums>,
  options: LaunchOptions,
): Promise<CopiedLists> {
  const column = device.from(i32, columns);
  const copied = { width: columns.length, layout: from.contiguous ? "right" : "left" } as const;
  const copy = await sumsOfLists(device, slices, copied, options, {
    fill: (row, sorted) => device.run(gatherRows, { row, column, a: from, sorted }, range(row.length), options),
    by,
  });
  column.free();
  return copy;
}

/** How numbers of rows come into the order of lists, and what sums them up. */
export interface SumsOfRows {
  /** Writes the numbers [entry][k] of the rows `row`. */
  fill(row: View<"i32">, numbers: View<"f64", 2>): Promise<unknown>;
  /** Leaves the sums of each list. */
  readonly by: ReturnType<typeof listSums>;
  /** Sums of a list. Default: one for each number of a row. */
  readonly sums?: number;
}

/** Numbers of rows in the order of lists, and sums over each list. */
export async function sumsOfLists(
  device: Device,
  { entries, list, start, length }: Slices,
  { width, layout }: { readonly width: number; readonly layout: LayoutName },
  options: LaunchOptions,
  { fill, by, sums: sumsOfList = width }: SumsOfRows,
): Promise<CopiedLists> {
  const lists = upload(device, { row: entries, list, start, length });
  const a = device.array(f64, [entries.length, width], { layout });
  const sums = device.array(f64, [list.length, sumsOfList]);
  await fill(lists.row, a);
  return {
    sums,
    step: (u) => ({ name: by.name, launch: device.prepare(by, { a, ...lists, u, sums }, range(list.length), options) }),
    free: () => [a, sums, ...Object.values(lists)].forEach((array) => array.free()),
  };
}

/** Copies lists of numbers to a device. */
export const upload = <K extends string>(device: Device, lists: Record<K, Int32Array>): Record<K, View<"i32">> =>
  Object.fromEntries(Object.entries<Int32Array>(lists).map(([name, list]) => [name, device.from(i32, list)])) as Record<K, View<"i32">>;
