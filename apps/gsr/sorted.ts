import type { LaunchOptions, View } from "isoform";
import { f64, i32, kernel, range, teamKernel, teams, view } from "isoform";
import type { Step } from "./lsqr.js";
import type { Shape } from "./shape.js";
import { ATTITUDE, INSTRUMENT, KNOTS, instrumentLayout } from "./shape.js";
import type { System } from "./system.js";

/*
 * Shares of A^T u from copies of the coefficients that are sorted by unknown: each sum is one team's, so nothing is added atomically, and sums are
 * the same in each run.
 */

/** A section of A^T u; `steps` add it to `t`. */
export interface SortedSection {
  steps(u: View<"f64">, t: View<"f64">): Step[];
  free(): void;
}

/* Attitude: rows with one start knot share twelve unknowns. */

const gatherRows = kernel("gatherRows", { order: view(i32), a: view(f64, 2), sorted: view(f64, 2) }, ({ order, a, sorted }, e) => {
  const row = order[e];
  for (let k = 0; k < 12; k++) sorted[e][k] = a[row][k];
});

/** A team a group of rows with one start knot: the twelve sums of its coefficients times u. */
const attitudeGroups = teamKernel(
  "attitudeGroups",
  { a: view(f64, 2), order: view(i32), start: view(i32), u: view(f64), sums: view(f64, 2) },
  ({ a, order, start, u, sums }, team) => {
    const g = team.index;
    const first = start[g];
    const s = team.reduce(
      start[g + 1] - first,
      {
        s0: "sum",
        s1: "sum",
        s2: "sum",
        s3: "sum",
        s4: "sum",
        s5: "sum",
        s6: "sum",
        s7: "sum",
        s8: "sum",
        s9: "sum",
        s10: "sum",
        s11: "sum",
      },
      (j, r) => {
        const e = first + j;
        const t = u[order[e]];
        r.s0.add(a[e][0] * t);
        r.s1.add(a[e][1] * t);
        r.s2.add(a[e][2] * t);
        r.s3.add(a[e][3] * t);
        r.s4.add(a[e][4] * t);
        r.s5.add(a[e][5] * t);
        r.s6.add(a[e][6] * t);
        r.s7.add(a[e][7] * t);
        r.s8.add(a[e][8] * t);
        r.s9.add(a[e][9] * t);
        r.s10.add(a[e][10] * t);
        r.s11.add(a[e][11] * t);
      },
    );
    sums[g][0] = s.s0;
    sums[g][1] = s.s1;
    sums[g][2] = s.s2;
    sums[g][3] = s.s3;
    sums[g][4] = s.s4;
    sums[g][5] = s.s5;
    sums[g][6] = s.s6;
    sums[g][7] = s.s7;
    sums[g][8] = s.s8;
    sums[g][9] = s.s9;
    sums[g][10] = s.s10;
    sums[g][11] = s.s11;
  },
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

/** Members of a team for the groups: about as many as a group has rows in systems that fill a GPU. */
const GROUP_TEAM = 32;

/** Device memory of the attitude's copy. */
export const sortedAttitudeFootprint = (shape: Shape): number => shape.observations * (8 * ATTITUDE + 4) + shape.knots * (8 * ATTITUDE + 4);

/** The attitude's share of A^T u from a copy of its coefficients sorted by start knot. */
export async function sortedAttitude({ device, shape, attitude, knot }: System, options: LaunchOptions): Promise<SortedSection> {
  const groups = shape.knots - KNOTS + 1;
  const groupOf = (await device.queue.read(knot)) as Int32Array;
  const start = new Int32Array(groups + 1);
  for (const g of groupOf) start[g + 1]++;
  for (let g = 0; g < groups; g++) start[g + 1] += start[g];
  const next = start.slice();
  const order = new Int32Array(groupOf.length);
  groupOf.forEach((g, row) => (order[next[g]++] = row));

  const arrays = {
    order: device.from(i32, order),
    start: device.from(i32, start),
    sorted: device.array(f64, attitude.shape, { layout: attitude.contiguous ? "right" : "left" }),
    sums: device.array(f64, [groups, ATTITUDE]),
  };
  await device.run(gatherRows, { order: arrays.order, a: attitude, sorted: arrays.sorted }, range(order.length), options);
  return {
    steps: (u, t) => [
      {
        name: attitudeGroups.name,
        launch: device.prepare(
          attitudeGroups,
          { a: arrays.sorted, order: arrays.order, start: arrays.start, u, sums: arrays.sums },
          teams(groups, { size: GROUP_TEAM }),
          options,
        ),
      },
      { name: attitudeKnots.name, launch: device.prepare(attitudeKnots, { sums: arrays.sums, groups, t }, range(3, shape.knots), options) },
    ],
    free: () => Object.values(arrays).forEach((array) => array.free()),
  };
}

/* Instrument: entries of one unknown, cut into tiles of rows whose u stays in a cache. */

/** Rows of a tile: 16 MiB of u. */
const TILE_ROWS = 2 ** 21;

/** `entry` counts the coefficients of all rows. */
const gatherEntries = kernel(
  "gatherEntries",
  { order: view(i32), a: view(f64, 2), sorted: view(f64), row: view(i32) },
  ({ order, a, sorted, row }, e) => {
    const entry = order[e];
    const i = Math.trunc(entry / 6);
    sorted[e] = a[i][entry - 6 * i];
    row[e] = i;
  },
);

/** A team a column of a tile: the sum of its coefficients times u. */
const instrumentTiles = teamKernel(
  "instrumentTiles",
  { a: view(f64), row: view(i32), start: view(i32), u: view(f64), sums: view(f64) },
  ({ a, row, start, u, sums }, team) => {
    const first = start[team.index];
    sums[team.index] = team.sum(start[team.index + 1] - first, (j) => a[first + j] * u[row[first + j]]);
  },
);

/** Each column from its tiles. */
const instrumentColumns = kernel("instrumentColumns", { sums: view(f64, 2), t: view(f64) }, ({ sums, t }, column) => {
  let total = 0;
  for (let tile = 0; tile < sums.length; tile++) total += sums[tile][column];
  t[column] += total;
});

const tilesOf = ({ observations }: Shape, tileRows = TILE_ROWS): number => Math.ceil(observations / tileRows);

/** Device memory of the instrument's copy. */
export const sortedInstrumentFootprint = (shape: Shape): number =>
  shape.observations * INSTRUMENT * 12 + tilesOf(shape) * instrumentLayout(shape).size * 12;

/** The instrument's share of A^T u from a copy of its coefficients sorted by tile of `tileRows` rows, and in it by column. */
export async function sortedInstrument(
  { device, shape, instrument, column }: System,
  options: LaunchOptions,
  tileRows = TILE_ROWS,
): Promise<SortedSection> {
  const [tiles, columns] = [tilesOf(shape, tileRows), instrumentLayout(shape).size];
  const columnOf = (await device.queue.read(column)) as Int32Array;
  const groupOf = (entry: number): number => Math.floor(entry / (INSTRUMENT * tileRows)) * columns + columnOf[entry];
  const start = new Int32Array(tiles * columns + 1);
  for (let entry = 0; entry < columnOf.length; entry++) start[groupOf(entry) + 1]++;
  for (let g = 0; g < tiles * columns; g++) start[g + 1] += start[g];
  const next = start.slice();
  const order = new Int32Array(columnOf.length);
  for (let entry = 0; entry < columnOf.length; entry++) order[next[groupOf(entry)]++] = entry;

  const arrays = {
    start: device.from(i32, start),
    row: device.array(i32, order.length),
    sorted: device.array(f64, order.length),
    sums: device.array(f64, [tiles, columns]),
  };
  const entries = device.from(i32, order);
  await device.run(gatherEntries, { order: entries, a: instrument, sorted: arrays.sorted, row: arrays.row }, range(order.length), options);
  entries.free();
  const { sums } = arrays;
  return {
    steps: (u, t) => [
      {
        name: instrumentTiles.name,
        launch: device.prepare(
          instrumentTiles,
          { a: arrays.sorted, row: arrays.row, start: arrays.start, u, sums: sums.reshape(tiles * columns) },
          teams(tiles * columns, { size: GROUP_TEAM }),
          options,
        ),
      },
      { name: instrumentColumns.name, launch: device.prepare(instrumentColumns, { sums, t }, range(columns), options) },
    ],
    free: () => Object.values(arrays).forEach((array) => array.free()),
  };
}
