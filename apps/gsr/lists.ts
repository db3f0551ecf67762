import type { Device, Launch, LaunchOptions, View } from "isoform";
import { f64, i32, kernel, range, view } from "isoform";
import type { CoefficientType } from "./coefficients.js";
import { REALS, byCoefficients } from "./coefficients.js";
import type { Shape } from "./shape.js";
import type { Slices } from "./slices.js";
import { bySides } from "./sides.js";
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

/** A section of A^T u that comes from a copy of its coefficients, for as many sides as `u` and `t` have, their last axis. */
export interface SortedSection {
  /** Sums up each list. */
  sums(u: View<"f64">): ListStep[];
  /** Brings the lists' sums to `t`. */
  finish(t: View<"f64">): ListStep[];
  free(): void;
}

/** Sides of a vector. */
export const sidesOf = (vector: View): number => vector.shape[vector.rank - 1];

/** Memory for results of each number of sides, allocated when it is first asked for. */
interface Buffers {
  (sides: number): View<"f64">;
  free(): void;
}

/** Buffers of a shape, with one more axis for the sides. */
export function buffers(device: Device, shape: readonly number[]): Buffers {
  const made: View<"f64">[] = [];
  const of = bySides((sides) => {
    const buffer: View<"f64"> = device.array(f64, [...shape, sides]);
    made.push(buffer);
    return buffer;
  });
  return Object.assign(of, { free: () => made.forEach((buffer) => buffer.free()) });
}

/** Places of lists (slices.ts), the row of each entry, and u. */
export const LISTS = { row: view(i32), list: view(i32), start: view(i32), length: view(i32), u: view(f64, 2) };

/**
 * A kernel over all lists that leaves for each the sums of `width` coefficients a row times u; with sides at once, over all groups of as many sides of each
 * list: threads of a group are neighbours.
 */
export const listSums = (name: string, width: number, sidesAtOnce = Infinity) =>
  byCoefficients((real, sides) => {
    const pack = Math.min(sides, sidesAtOnce);
    const groups = sides / pack;
    return kernel(
      name,
      { a: view(real, 2), ...LISTS, sums: view(f64, 3, { disjoint: true }) },
      ({ a, row, list, start, length, u, sums }, i) => {
        const place = groups === 1 ? i : Math.trunc(i / groups);
        const first = groups === 1 ? 0 : pack * (i % groups);
        const s = new Float64Array(width * pack);
        const begin = start[place];
        for (let n = 0; n < length[place]; n++) {
          const e = begin + SLICE * n;
          const t = new Float64Array(pack);
          for (let q = 0; q < pack; q++) t[q] = u[row[e]][first + q];
          for (let k = 0; k < width; k++) {
            const c = a[e][k];
            for (let q = 0; q < pack; q++) s[k * pack + q] += c * t[q];
          }
        }
        const g = list[place];
        for (let k = 0; k < width; k++) {
          for (let q = 0; q < pack; q++) sums[g][k][first + q] = s[k * pack + q];
        }
      },
      () => [width, SLICE, pack, groups],
    );
  });

/** A kernel that leaves for each group the sums of its lists in all tiles (`first` of slices.ts, tile after tile). */
export const groupSums = (name: string) =>
  bySides((sides) =>
    kernel(
      name,
      { sums: view(f64, 3), first: view(i32), tiles: i32, groups: i32, totals: view(f64, 3) },
      ({ sums, first, tiles, groups, totals }, group, k) => {
        const total = new Float64Array(sides);
        for (let tile = 0; tile < tiles; tile++) {
          const place = tile * groups + group;
          const end = first[place + 1];
          for (let n = first[place]; n < end; n++) {
            for (let side = 0; side < sides; side++) total[side] += sums[n][k][side];
          }
        }
        for (let side = 0; side < sides; side++) totals[group][k][side] = total[side];
      },
      () => [sides],
    ),
  );

/** Copies chosen coefficients of rows. */
const gatherRows = byCoefficients((real) =>
  kernel("gatherRows", { row: view(i32), column: view(i32), a: view(real, 2), sorted: view(real, 2) }, ({ row, column, a, sorted }, e) => {
    for (let k = 0; k < column.length; k++) sorted[e][k] = a[row[e]][column[k]];
  }),
);

/** Numbers of all rows in the order of lists, and the sums of each list. */
interface CopiedLists {
  /** [list][sum][side] */
  readonly sums: Buffers;
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
  from: View<CoefficientType, 2>,
  columns: readonly number[],
  slices: Slices,
  by: ReturnType<typeof listSums>,
  options: LaunchOptions,
): Promise<CopiedLists> {
  const column = device.from(i32, columns);
  const { type } = from;
  const sorted = device.array(REALS[type], [slices.entries.length, columns.length], { layout: from.contiguous ? "right" : "left" });
  const copy = await sumsOfLists(device, slices, sorted, options, {
    fill: (row) => device.run(gatherRows(type, 1), { row, column, a: from, sorted }, range(row.length), options),
    by: (sides) => by(type, sides),
  });
  column.free();
  return copy;
}

/** How numbers of rows come into the order of lists, and what sums them up. */
interface SumsOfRows {
  /** Writes the numbers of the rows `row`. */
  fill(row: View<"i32">): Promise<unknown>;
  /** Leaves the sums of each list, for as many sides at once, if not all. */
  readonly by: (sides: number) => ReturnType<ReturnType<typeof listSums>>;
  readonly sidesAtOnce?: number;
  /** Sums of a list. Default: one for each number of a row. */
  readonly sums?: number;
}

/**
 * Numbers of rows in the order of lists, and sums over each list.
 * @param numbers memory for them, [entry][k], freed with the copy
 */
export async function sumsOfLists(
  device: Device,
  { entries, list, start, length }: Slices,
  numbers: View<CoefficientType, 2>,
  options: LaunchOptions,
  { fill, by, sidesAtOnce = Infinity, sums: sumsOfList = numbers.shape[1] }: SumsOfRows,
): Promise<CopiedLists> {
  const lists = upload(device, { row: entries, list, start, length });
  const sums = buffers(device, [list.length, sumsOfList]);
  await fill(lists.row);
  return {
    sums,
    step: (u) => {
      const sides = sidesOf(u);
      const args = { a: numbers, ...lists, u, sums: sums(sides) };
      return {
        name: by(sides).name,
        launch: device.prepare(by(sides), args, range(list.length * Math.max(1, sides / sidesAtOnce)), options),
      };
    },
    free: () => [numbers, sums, ...Object.values(lists)].forEach((array) => array.free()),
  };
}

/** Copies lists of numbers to a device. */
export const upload = <K extends string>(device: Device, lists: Record<K, Int32Array>): Record<K, View<"i32">> =>
  Object.fromEntries(Object.entries<Int32Array>(lists).map(([name, list]) => [name, device.from(i32, list)])) as Record<K, View<"i32">>;
