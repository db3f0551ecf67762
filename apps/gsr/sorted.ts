import type { Device, Launch, LaunchOptions, View } from "isoform";
import { f64, i32, kernel, range, view } from "isoform";
import type { Shape } from "./shape.js";
import { ATTITUDE, INSTRUMENT, KNOTS, instrumentLayout } from "./shape.js";
import { inSlices } from "./slices.js";
import type { StarRows } from "./system.js";

/*
 * Shares of A^T u from copies of the coefficients in the order of their unknowns. Each sum is one thread's, so nothing is added atomically, and sums are
 * the same in each run; neighbouring threads read neighbouring coefficients (slices.ts).
 */

interface SortedStep {
  readonly name: string;
  launch: Launch;
}

/** A section of A^T u. */
export interface SortedSection {
  /** A copy of the coefficients, and the sums of its lists. */
  readonly lists: Lists;
  /** Whether most rows have the group of the row before, as rows of a transit have: then lists read u in runs. */
  readonly inRuns: boolean;
  /** Sums up each list. */
  sums(u: View<"f64">): SortedStep;
  /** Adds the lists' sums to `t`. */
  finish(t: View<"f64">): SortedStep;
  free(): void;
}

/** Arguments of the kernel that sums up a section's lists, without u. */
interface Lists {
  readonly a: View<"f64">;
  readonly row: View<"i32">;
  readonly list: View<"i32">;
  readonly start: View<"i32">;
  readonly length: View<"i32">;
  readonly sums: View<"f64">;
}

/** Places of the entries of each sum, and the row of each entry. */
const SLICES = { row: view(i32), list: view(i32), start: view(i32), length: view(i32) };

/** Adds up twelve coefficients a row times u over a list. */
const addGroup = (
  a: { readonly [entry: number]: { readonly [k: number]: number } },
  row: Numbers,
  u: Numbers,
  begin: number,
  length: number,
  sums: Float64Array,
): void => {
  for (let n = 0; n < length; n++) {
    const e = begin + 32 * n;
    const t = u[row[e]];
    for (let k = 0; k < 12; k++) sums[k] += a[e][k] * t;
  }
};

/** The sum of coefficients times u over a list. */
const sumOfList = (a: Numbers, row: Numbers, u: Numbers, begin: number, length: number): number => {
  let sum = 0;
  for (let n = 0; n < length; n++) {
    const e = begin + 32 * n;
    sum += a[e] * u[row[e]];
  }
  return sum;
};

interface Numbers {
  readonly [place: number]: number;
}

/* Attitude: rows with one start knot share twelve unknowns. */

const gatherRows = kernel("gatherRows", { row: view(i32), a: view(f64, 2), sorted: view(f64, 2) }, ({ row, a, sorted }, e) => {
  for (let k = 0; k < 12; k++) sorted[e][k] = a[row[e]][k];
});

/** For each start knot the twelve sums of its coefficients times u. */
const attitudeGroups = kernel(
  "attitudeGroups",
  {
    a: view(f64, 2),
    ...SLICES,
    u: view(f64),
    sums: view(f64, 2, { disjoint: true }),
  },
  ({ a, row, list, start, length, u, sums }, place) => {
    const s = new Float64Array(12);
    addGroup(a, row, u, start[place], length[place], s);
    const g = list[place];
    for (let k = 0; k < 12; k++) sums[g][k] = s[k];
  },
  () => [addGroup],
);

/** Each knot of each axis from the four groups that reach it. */
const attitudeKnots = kernel("attitudeKnots", { sums: view(f64, 2), groups: i32, t: view(f64, 2) }, ({ sums, groups, t }, axis, knot) => {
  let total = 0;
  for (let k = 0; k < 4; k++) {
    const group = knot - k;
    if (group >= 0 && group < groups) total += sums[group][4 * axis + k];
  }
  t[axis][knot] += total;
});

/** Device memory of the attitude's copy, without what slices are filled up with. */
export const sortedAttitudeFootprint = (shape: Shape): number =>
  shape.observations * (8 * ATTITUDE + 4) + shape.knots * (8 * ATTITUDE + 12);

/** The attitude's share of A^T u from a copy of its coefficients by start knot. */
export async function sortedAttitude({ device, shape, attitude, knot }: StarRows, options: LaunchOptions): Promise<SortedSection> {
  const groups = shape.knots - KNOTS + 1;
  const groupOf = (await device.queue.read(knot)) as Int32Array;
  const { entries, list, start, length } = inSlices({ groups, entries: groupOf.length, groupOf });
  const { row, ...slices } = upload(device, { row: entries, list, start, length });
  const arrays = {
    ...slices,
    row,
    sorted: device.array(f64, [row.length, ATTITUDE], { layout: attitude.contiguous ? "right" : "left" }),
    sums: device.array(f64, [groups, ATTITUDE]),
  };
  const { sorted, sums } = arrays;
  await device.run(gatherRows, { row, a: attitude, sorted }, range(row.length), options);
  const lists = { a: sorted, row, ...slices, sums };
  return {
    lists,
    inRuns: isInRuns(groupOf),
    sums: (u) => ({ name: attitudeGroups.name, launch: device.prepare(attitudeGroups, { ...lists, u }, range(groups), options) }),
    finish: (t) => ({
      name: attitudeKnots.name,
      launch: device.prepare(attitudeKnots, { sums, groups, t }, range(3, shape.knots), options),
    }),
    free: () => Object.values(arrays).forEach((array) => array.free()),
  };
}

/* Instrument: entries of one unknown, cut into tiles of rows whose u stays in a cache. */

/** Rows of a tile: 16 MiB of u. */
const TILE_ROWS = 2 ** 21;

/** Entries of a list, at most: all observations of a CCD have its unknowns of magnitude and colour, and one thread would be busy with these for long. */
const LONGEST_LIST = 1024;

/** `entry` counts the coefficients of all rows. */
const gatherEntries = kernel(
  "gatherEntries",
  { entry: view(i32), a: view(f64, 2), sorted: view(f64), row: view(i32) },
  ({ entry, a, sorted, row }, e) => {
    const i = Math.trunc(entry[e] / 6);
    sorted[e] = a[i][entry[e] - 6 * i];
    row[e] = i;
  },
);

/** For each list of a column of a tile the sum of its coefficients times u. */
const instrumentTiles = kernel(
  "instrumentTiles",
  {
    a: view(f64),
    ...SLICES,
    u: view(f64),
    sums: view(f64, 1, { disjoint: true }),
  },
  ({ a, row, list, start, length, u, sums }, place) => {
    sums[list[place]] = sumOfList(a, row, u, start[place], length[place]);
  },
  () => [sumOfList],
);

/** Each column from its lists in all tiles. */
const instrumentColumns = kernel(
  "instrumentColumns",
  { sums: view(f64), first: view(i32), tiles: i32, t: view(f64) },
  ({ sums, first, tiles, t }, column) => {
    let total = 0;
    for (let tile = 0; tile < tiles; tile++) {
      const group = tile * t.length + column;
      const end = first[group + 1];
      for (let n = first[group]; n < end; n++) total += sums[n];
    }
    t[column] += total;
  },
);

const tilesOf = ({ observations }: Shape, tileRows = TILE_ROWS): number => Math.ceil(observations / tileRows);

/** Device memory of the instrument's copy, without what slices are filled up with. */
export const sortedInstrumentFootprint = (shape: Shape): number =>
  shape.observations * INSTRUMENT * (12 + 20 / LONGEST_LIST) + tilesOf(shape) * instrumentLayout(shape).size * 24;

/** The instrument's share of A^T u from a copy of its coefficients by tile of `tileRows` rows, and in it by column. */
export async function sortedInstrument(
  { device, shape, instrument, column }: StarRows,
  options: LaunchOptions,
  tileRows = TILE_ROWS,
): Promise<SortedSection> {
  const [tiles, columns] = [tilesOf(shape, tileRows), instrumentLayout(shape).size];
  const columnOf = (await device.queue.read(column)) as Int32Array;
  const { entries: entry, ...slices } = upload(
    device,
    inSlices({ groups: columns, entries: INSTRUMENT * tileRows, groupOf: columnOf }, LONGEST_LIST),
  );
  const arrays = {
    ...slices,
    row: device.array(i32, entry.length),
    sorted: device.array(f64, entry.length),
    sums: device.array(f64, slices.list.length),
  };
  const { row, sorted, sums, first, list, start, length } = arrays;
  await device.run(gatherEntries, { entry, a: instrument, sorted, row }, range(entry.length), options);
  entry.free();
  const lists = { a: sorted, row, list, start, length, sums };
  return {
    lists,
    inRuns: false,
    sums: (u) => ({ name: instrumentTiles.name, launch: device.prepare(instrumentTiles, { ...lists, u }, range(list.length), options) }),
    finish: (t) => ({
      name: instrumentColumns.name,
      launch: device.prepare(instrumentColumns, { sums, first, tiles, t }, range(columns), options),
    }),
    free: () => Object.values(arrays).forEach((array) => array.free()),
  };
}

/* Both, side by side. */

/** Neighbouring lists of one section. */
const RUN = 256;

/**
 * `attitudeGroups` and `instrumentTiles` in one: of `every` runs of lists the first is the attitude's, as long as it has some. Where the attitude's
 * lists read u in runs, one is held up by the memory's bandwidth, the other by places far apart: together they take 0.83 of the time of one after the
 * other on an H200. Where both read far apart, they take as long there, and 1.09 times as long on an H100, as tiles of u stay in the cache for less.
 */
const bothSections = kernel(
  "bothSections",
  {
    every: i32,
    groups: i32,
    lists: i32,
    a: view(f64, 2),
    row: view(i32),
    list: view(i32),
    start: view(i32),
    length: view(i32),
    sums: view(f64, 2, { disjoint: true }),
    a2: view(f64),
    row2: view(i32),
    list2: view(i32),
    start2: view(i32),
    length2: view(i32),
    sums2: view(f64, 1, { disjoint: true }),
    u: view(f64),
  },
  ({ every, groups, lists, a, row, list, start, length, sums, a2, row2, list2, start2, length2, sums2, u }, n) => {
    const run = Math.trunc(n / RUN);
    const turn = Math.trunc(run / every);
    const runs = Math.trunc((groups + RUN - 1) / RUN);
    if (turn * every === run && turn < runs) {
      const place = RUN * turn + (n % RUN);
      if (place < groups) {
        const s = new Float64Array(12);
        addGroup(a, row, u, start[place], length[place], s);
        const g = list[place];
        for (let k = 0; k < 12; k++) sums[g][k] = s[k];
      }
    } else {
      const place = RUN * (run - Math.min(runs, turn + 1)) + (n % RUN);
      if (place < lists) sums2[list2[place]] = sumOfList(a2, row2, u, start2[place], length2[place]);
    }
  },
  () => [RUN, addGroup, sumOfList],
);

/** Sums up the lists of both sections. */
export function sumsOfBoth(
  { device }: StarRows,
  attitude: SortedSection,
  instrument: SortedSection,
  u: View<"f64">,
  options: LaunchOptions,
): SortedStep {
  const [groups, lists] = [attitude, instrument].map((section) => section.lists.list.length);
  const [runs, others] = [groups, lists].map((count) => Math.ceil(count / RUN));
  const every = Math.max(1, Math.floor((runs + others) / runs));
  const { a: a2, row: row2, list: list2, start: start2, length: length2, sums: sums2 } = instrument.lists;
  const args = { every, groups, lists, ...attitude.lists, a2, row2, list2, start2, length2, sums2, u };
  return { name: bothSections.name, launch: device.prepare(bothSections, args, range(RUN * (runs + others)), options) };
}

function isInRuns(groupOf: Int32Array): boolean {
  let alike = 0;
  for (let row = 1; row < groupOf.length; row++) if (groupOf[row] === groupOf[row - 1]) alike++;
  return 2 * alike > groupOf.length;
}

const upload = <K extends string>(device: Device, lists: Record<K, Int32Array>): Record<K, View<"i32">> =>
  Object.fromEntries(Object.entries<Int32Array>(lists).map(([name, list]) => [name, device.from(i32, list)])) as Record<K, View<"i32">>;
