import type { LaunchOptions } from "isoform";
import { f64, i32, kernel, range, view } from "isoform";
import type { CoefficientType } from "./coefficients.js";
import type { NarrowRows } from "./narrow-rows.js";
import { REALS, byCoefficients, coefficientBytes } from "./coefficients.js";
import { coefficientsOf } from "./narrow-rows.js";
import type { ListStep, SortedSection } from "./lists.js";
import { LISTS, TILE_ROWS, buffers, copyLists, groupSums, listSums, sidesOf, tilesOf, upload } from "./lists.js";
import type { Shape } from "./shape.js";
import { INSTRUMENT, instrumentLayout } from "./shape.js";
import { bySides } from "./sides.js";
import { SLICE, inSlices } from "./slices.js";

/*
 * Instrument: coefficients of one unknown, cut into tiles of rows whose u stays in a cache. Where five of a row's six unknowns follow from its CCD, field
 * and interval of time, as observations have it, rows of one such class are summed up together, and read u once for five coefficients.
 */

/** Rows of a tile of classes: there are few, so that neighbouring threads read neighbours in u. On an H200 they take 0.71 of the time of 2^21 rows. */
const CLASS_TILE_ROWS = 2 ** 18;

/** Coefficients of a list, at most: all observations of a CCD have its unknowns of magnitude and colour, and one thread would be busy with these for long. */
const LONGEST_LIST = 1024;
/** Rows of a list of a class, at most. */
const LONGEST_OF_CLASS = 256;

/** The coefficient that a class does not decide: small-scale calibration, whose unknowns are the pixel columns. */
const SMALL = 2;
const OF_CLASS = Array.from({ length: INSTRUMENT }, (_, k) => k).filter((k) => k !== SMALL);
/** Rows of a class in a tile, on average, from which on classes pay. */
const FEWEST_ROWS = 8;

/** Copies coefficients: of each row those from `first` on, `width` of them, are counted by `entry`. */
const gatherEntries = byCoefficients((real) =>
  kernel(
    "gatherEntries",
    { entry: view(i32), first: i32, width: i32, a: view(real, 2), sorted: view(real), row: view(i32) },
    ({ entry, first, width, a, sorted, row }, e) => {
      const i = Math.trunc(entry[e] / width);
      sorted[e] = a[i][first + entry[e] - width * i];
      row[e] = i;
    },
  ),
);

/** Sides that a thread has of a list of a column: on an H200 four sides take 0.87 of the time that they take with one, 0.84 of that with four. */
const TILE_SIDES = 2;

/** For each list of a column of a tile the sum of its coefficients times u. */
const instrumentTiles = byCoefficients((real, sides) => {
  const pack = Math.min(sides, TILE_SIDES);
  const groups = sides / pack;
  return kernel(
    "instrumentTiles",
    { a: view(real), ...LISTS, sums: view(f64, 2, { disjoint: true }) },
    ({ a, row, list, start, length, u, sums }, i) => {
      const place = groups === 1 ? i : Math.trunc(i / groups);
      const first = groups === 1 ? 0 : pack * (i % groups);
      const s = new Float64Array(pack);
      const begin = start[place];
      for (let n = 0; n < length[place]; n++) {
        const e = begin + SLICE * n;
        for (let q = 0; q < pack; q++) s[q] += a[e] * u[row[e]][first + q];
      }
      for (let q = 0; q < pack; q++) sums[list[place]][first + q] = s[q];
    },
    () => [SLICE, pack, groups],
  );
});

/** Each column from its lists in all tiles. */
const instrumentColumns = bySides((sides) =>
  kernel(
    "instrumentColumns",
    { sums: view(f64, 2), first: view(i32), tiles: i32, t: view(f64, 2) },
    ({ sums, first, tiles, t }, column) => {
      const total = new Float64Array(sides);
      for (let tile = 0; tile < tiles; tile++) {
        const group = tile * t.length + column;
        const end = first[group + 1];
        for (let n = first[group]; n < end; n++) {
          for (let side = 0; side < sides; side++) total[side] += sums[n][side];
        }
      }
      for (let side = 0; side < sides; side++) t[column][side] += total[side];
    },
    () => [sides],
  ),
);

/** For each list of a class in a tile the five sums of its coefficients times u. */
const classTiles = listSums("classTiles", INSTRUMENT - 1);

/** Each class from its lists in all tiles. */
const classSums = groupSums("classSums");

/** Each column from the classes that have it. */
const classColumns = bySides((sides) =>
  kernel(
    "classColumns",
    { totals: view(f64, 2), start: view(i32), place: view(i32), t: view(f64, 2) },
    ({ totals, start, place, t }, column) => {
      const total = new Float64Array(sides);
      for (let e = start[column]; e < start[column + 1]; e++) {
        for (let side = 0; side < sides; side++) total[side] += totals[place[e]][side];
      }
      for (let side = 0; side < sides; side++) t[column][side] += total[side];
    },
    () => [sides],
  ),
);

/** Sums of all lists, about. */
export const sortedSums = (shape: Shape): number =>
  (INSTRUMENT * shape.observations) / LONGEST_LIST + tilesOf(shape) * instrumentLayout(shape).size;

/** Device memory of the instrument's copy, without what slices are filled up with; classes need less. */
export const sortedInstrumentFootprint = (shape: Shape, type: CoefficientType): number =>
  shape.observations * INSTRUMENT * (4 + coefficientBytes(type) + 20 / LONGEST_LIST) + tilesOf(shape) * instrumentLayout(shape).size * 24;

/** The instrument's share of A^T u from a copy of its coefficients by tile of `tileRows` rows, and in it by column, or by class and column. */
export async function sortedInstrument(rows: NarrowRows, options: LaunchOptions, tileRows = TILE_ROWS): Promise<SortedSection> {
  const columnOf = (await rows.device.queue.read(rows.column)) as Int32Array;
  const classRows = Math.min(CLASS_TILE_ROWS, tileRows);
  const classes = classesOf(columnOf, tilesOf(rows.shape, classRows));
  if (!classes) return ofEntries(rows, columnOf, { first: 0, width: INSTRUMENT, tileRows }, options);
  const small = Int32Array.from({ length: rows.shape.observations }, (_, i) => columnOf[INSTRUMENT * i + SMALL]);
  const sections = [
    await ofClasses(rows, classes, classRows, options),
    await ofEntries(rows, small, { first: SMALL, width: 1, tileRows }, options),
  ];
  const both = (steps: (section: SortedSection) => ListStep[]): ListStep[] => sections.flatMap(steps);
  return {
    sums: (u) => both(({ sums }) => sums(u)),
    finish: (t) => both(({ finish }) => finish(t)),
    free: () => sections.forEach((section) => section.free()),
  };
}

/** Rows by what their CCD, field and interval are. */
interface Classes {
  readonly count: number;
  readonly classOf: Int32Array;
  /** Five columns a class. */
  readonly columns: readonly number[];
}

/** The classes of rows, unless a row's columns do not follow from one of them, or classes have few rows. */
function classesOf(columnOf: Int32Array, tiles: number): Classes | undefined {
  const rows = columnOf.length / INSTRUMENT;
  const most = rows / (FEWEST_ROWS * tiles);
  const known = new Map<number, number>();
  const columns: number[] = [];
  const classOf = new Int32Array(rows);
  const width = OF_CLASS.length;
  for (let i = 0; i < rows; i++) {
    const key = columnOf[INSTRUMENT * i + INSTRUMENT - 1];
    let one = known.get(key);
    if (one === undefined) {
      known.set(key, (one = known.size));
      if (one >= most) return undefined;
      for (const k of OF_CLASS) columns.push(columnOf[INSTRUMENT * i + k]);
    }
    for (let n = 0; n < width; n++) if (columns[width * one + n] !== columnOf[INSTRUMENT * i + OF_CLASS[n]]) return undefined;
    classOf[i] = one;
  }
  return { count: known.size, classOf, columns };
}

async function ofClasses(
  rows: NarrowRows,
  { count, classOf, columns }: Classes,
  tileRows: number,
  options: LaunchOptions,
): Promise<SortedSection> {
  const { device, shape } = rows;
  const { instrument } = coefficientsOf(rows);
  const slices = inSlices({ groups: count, entries: tileRows, groupOf: classOf }, LONGEST_OF_CLASS);
  const copy = await copyLists(device, instrument, OF_CLASS, slices, classTiles, options);
  const first = device.from(i32, slices.first);
  const totals = buffers(device, [count, OF_CLASS.length]);
  const byColumn = upload(device, placesOf(columns, instrumentLayout(shape).size));
  const counts = { tiles: tilesOf(shape, tileRows), groups: count };
  const each = range(count, OF_CLASS.length);
  return {
    sums: (u) => [copy.step(u)],
    finish: (t) => {
      const sides = sidesOf(t);
      const [byClass, ofColumns, all] = [classSums(sides), classColumns(sides), totals(sides)];
      const args = { sums: copy.sums(sides), first, ...counts, totals: all };
      const places = { totals: all.reshape(all.size / sides, sides), ...byColumn, t };
      return [
        { name: byClass.name, launch: device.prepare(byClass, args, each, options) },
        { name: ofColumns.name, launch: device.prepare(ofColumns, places, range(t.length), options) },
      ];
    },
    free: () => [copy, first, totals, ...Object.values(byColumn)].forEach((one) => one.free()),
  };
}

/** For each column the places among all classes' totals, [class][5], that belong to it. */
function placesOf(columns: readonly number[], size: number): { start: Int32Array; place: Int32Array } {
  const place = Int32Array.from([...columns.keys()].sort((n, m) => columns[n] - columns[m] || n - m));
  const start = new Int32Array(size + 1);
  for (const column of columns) start[column + 1]++;
  for (let c = 0; c < size; c++) start[c + 1] += start[c];
  return { start, place };
}

/** Coefficients that an entry's number counts: `width` of each row, from its coefficient `first` on. */
interface Counted {
  readonly first: number;
  readonly width: number;
  readonly tileRows: number;
}

async function ofEntries(
  rows: NarrowRows,
  columnOf: Int32Array,
  { first, width, tileRows }: Counted,
  options: LaunchOptions,
): Promise<SortedSection> {
  const { device, shape } = rows;
  const { instrument } = coefficientsOf(rows);
  const { type } = instrument;
  const [tiles, columns] = [tilesOf(shape, tileRows), instrumentLayout(shape).size];
  const slices = inSlices({ groups: columns, entries: width * tileRows, groupOf: columnOf }, LONGEST_LIST);
  const { entries: entry, first: firstList, ...lists } = upload(device, { ...slices });
  const row = device.array(i32, entry.length);
  const a = device.array(REALS[type], entry.length);
  const sums = buffers(device, [lists.list.length]);
  await device.run(gatherEntries(type, 1), { entry, first, width, a: instrument, sorted: a, row }, range(entry.length), options);
  entry.free();
  return {
    sums: (u) => {
      const by = instrumentTiles(type, sidesOf(u));
      const args = { a, row, ...lists, u, sums: sums(sidesOf(u)) };
      return [
        { name: by.name, launch: device.prepare(by, args, range(lists.list.length * Math.max(1, sidesOf(u) / TILE_SIDES)), options) },
      ];
    },
    finish: (t) => {
      const by = instrumentColumns(sidesOf(t));
      const args = { sums: sums(sidesOf(t)), first: firstList, tiles, t };
      return [{ name: by.name, launch: device.prepare(by, args, range(columns), options) }];
    },
    free: () => [row, a, sums, firstList, ...Object.values(lists)].forEach((array) => array.free()),
  };
}
