import { IsoformError, LaunchError } from "isoform";
import type { Column, TableRead } from "isoform/io";
import { columnOf, numbersOf, readTable } from "isoform/io";
import { requireMemory } from "isoform/set";
import type { Device } from "isoform";
import type { DeviceSet } from "isoform/set";
import type { StarList } from "../scanning/stars.js";
import type { Shape } from "../shape.js";
import { ASTROMETRIC, ATTITUDE, INSTRUMENT, KNOTS, ORDERS, sections } from "../shape.js";
import type { RowSource } from "../source.js";
import { idsOf, requireUnit } from "./star-lists.js";

/*
 * Epoch astrometry: positions of stars along scan, one a CCD or a list a transit, which determine the five parameters of each star. Attitude and instrument
 * have no rows and leave the system.
 */

/** Julian date (TCB) of J2017.5, from which motions count, and of the archive's time 0. */
const EPOCH = 2_457_936.875;
const TIME_ZERO = 2_455_197.5;
const YEAR_DAYS = 365.25;
const NANOSECONDS_A_DAY = 86_400e9;
/** Micro-arcseconds in a milli-arcsecond. */
const MAS = 1000;
/** Rows that five parameters need. */
const FEWEST_ROWS = 6;
/** Epoch of the parameters, a Julian year. */
export const EPOCH_YEAR = 2017.5;

const NUMBERS = ["obs_time_tcb", "centroid_pos_al", "centroid_pos_error_al", "parallax_factor_al", "scan_pos_angle"] as const;
const ANGLES = ["deg", "degree", "degrees"];

/** Observations by star, sorted. */
export interface Epochs {
  /** Stars in order of their first observation, or of the list. */
  readonly ids: BigInt64Array;
  /** First row of each star, and the end of the last. */
  readonly starRow: Int32Array;
  /** [row][5], divided by the row's standard error. */
  readonly coefficients: Float64Array;
  /** Positions divided by their standard errors. */
  readonly knownTerms: Float64Array;
  /** Observations that were left out: flagged ones, and those with a value that is not finite. */
  readonly flagged: number;
  readonly notFinite: number;
}

/**
 * Reads epoch astrometry: obs_time_tcb (a Julian date in days, or nanoseconds since JD 2455197.5 where the unit is ns), centroid_pos_al and its error in mas,
 * parallax_factor_al, scan_pos_angle in degrees; a row a CCD, or a row a transit with lists of equal length. outlier_flag, or used_by_agis_al, leaves
 * observations out. source_id is needed for more than one star.
 *
 * @param stars rows of other stars are refused
 */
export async function readEpochs(path: string, stars?: StarList, starsPath = "the list of stars"): Promise<Epochs> {
  const table = await readTable(path, { columns: [...NUMBERS, "source_id", "transit_id", "outlier_flag", "used_by_agis_al"] });
  const { rows, where } = table;
  const optional = (name: string): Column | undefined => table.columns.find((column) => column.name === name);
  const columns = NUMBERS.map((name) => columnOf(table, name, path));
  for (const [n, units] of [
    [1, ["mas"]],
    [2, ["mas"]],
    [4, ANGLES],
  ] as const)
    requireUnit(columns[n], units, path);
  const inNanoseconds = columns[0].unit === "ns";
  if (!inNanoseconds) requireUnit(columns[0], ["d", "day", "days"], path);
  const lists = columns.find(({ offsets }) => offsets)?.offsets;
  const counts = Int32Array.from({ length: rows }, (_, row) => (lists ? lists[row + 1] - lists[row] : 1));
  const cells = [...columns.map((column) => ({ values: numbersOf(column, path), column })), ...flagOf(optional, path)].map(
    ({ values, column }) => cell(column, values, counts, where),
  );
  const ids = optional("source_id") ? idsOf(optional("source_id")!, table, rows) : new BigInt64Array(rows).fill(stars?.ids?.[0] ?? 1n);
  if (!optional("source_id") && stars && stars.count !== 1)
    throw new IsoformError(`${path}: no column "source_id", and ${starsPath} has ${stars.count} stars: add it`);
  const transits = optional("transit_id");
  const order = new Map<bigint, number>();
  for (const id of stars?.ids ?? ids) if (!order.has(id)) order.set(id, order.size);
  for (let row = 0; row < rows; row++)
    if (!order.has(ids[row]))
      throw new IsoformError(
        `${where(row)}: an observation of no star: transit ${transits ? String(transits.values[row]) : row + 1}, source_id ${ids[row]} is not in ${starsPath}`,
      );
  const dropped = { flagged: 0, notFinite: 0 };
  const kept: { star: number; numbers: number[] }[] = [];
  for (let row = 0; row < rows; row++)
    for (let n = 0; n < counts[row]; n++) {
      const numbers = cells.slice(0, NUMBERS.length).map((at) => at(row, n));
      if (cells[NUMBERS.length]?.(row, n)) dropped.flagged++;
      else if (!numbers.every(Number.isFinite)) dropped.notFinite++;
      else {
        if (!(numbers[2] > 0)) throw new IsoformError(`${where(row)}: centroid_pos_error_al is ${numbers[2]}: an error is greater than 0`);
        kept.push({ star: order.get(ids[row])!, numbers });
      }
    }
  return { ids: BigInt64Array.from(order.keys()), ...rowsOf(kept, order.size, inNanoseconds), ...dropped };
}

/** The flag that leaves observations out, as 1 where one is left out. */
function flagOf(optional: (name: string) => Column | undefined, path: string): { values: Float64Array; column: Column }[] {
  const [outlier, used] = ["outlier_flag", "used_by_agis_al"].map(optional);
  if (outlier) return [{ values: numbersOf(outlier, path), column: outlier }];
  return used ? [{ values: numbersOf(used, path).map((value) => (value === 1 ? 0 : 1)), column: used }] : [];
}

/** Value of a column for observation `n` of a row: a single value holds for all. Throws IsoformError for lists of another length. */
function cell(
  { name, offsets }: Column,
  values: Float64Array,
  counts: Int32Array,
  where: TableRead["where"],
): (row: number, n: number) => number {
  if (!offsets) return (row) => values[row];
  for (let row = 0; row < counts.length; row++)
    if (offsets[row + 1] - offsets[row] !== counts[row])
      throw new IsoformError(
        `${where(row)}: ${name} has ${offsets[row + 1] - offsets[row]} values, and other lists of the row ${counts[row]}`,
      );
  return (row, n) => values[offsets[row] + n];
}

/** Rows by star, in the order in which they came. */
function rowsOf(
  kept: readonly { star: number; numbers: number[] }[],
  stars: number,
  inNanoseconds: boolean,
): Pick<Epochs, "starRow" | "coefficients" | "knownTerms"> {
  const starRow = new Int32Array(stars + 1);
  for (const { star } of kept) starRow[star + 1]++;
  for (let s = 0; s < stars; s++) starRow[s + 1] += starRow[s];
  const next = starRow.slice(0, stars);
  const coefficients = new Float64Array(ASTROMETRIC * kept.length);
  const knownTerms = new Float64Array(kept.length);
  for (const { star, numbers } of kept) {
    const [time, position, error, factor, angle] = numbers;
    const years = (inNanoseconds ? time / NANOSECONDS_A_DAY + (TIME_ZERO - EPOCH) : time - EPOCH) / YEAR_DAYS;
    const [sine, cosine] = [Math.sin((angle * Math.PI) / 180), Math.cos((angle * Math.PI) / 180)];
    const weight = 1 / (error * MAS);
    const row = next[star]++;
    coefficients.set(
      [sine, cosine, factor, years * sine, years * cosine].map((value) => value * weight),
      ASTROMETRIC * row,
    );
    knownTerms[row] = position * MAS * weight;
  }
  return { starRow, coefficients, knownTerms };
}

/** A source of rows that were measured: their exact solution is not known. */
interface EpochSource extends RowSource {
  readonly epochs: Epochs;
  /** Stars with fewer than six observations, which leave the system. */
  readonly leftStars: readonly number[];
}

/** Rows of a system of stars alone. Throws LaunchError where no star has enough observations. */
export function epochRows(device: DeviceSet | Device, epochs: Epochs): EpochSource {
  const { starRow, coefficients, knownTerms, ids } = epochs;
  const stars = ids.length;
  const enough = (s: number) => starRow[s + 1] - starRow[s] >= FEWEST_ROWS;
  const leftStars = Array.from({ length: stars }, (_, s) => s).filter((s) => !enough(s));
  if (leftStars.length === stars)
    throw new LaunchError(`${stars} stars have fewer than ${FEWEST_ROWS} observations each: five parameters need more`);
  const observations = knownTerms.length;
  requireMemory(device, { what: `epoch astrometry of ${observations} observations`, bytes: observations * 8 * 60, choose: "fewer stars" });
  // The least shape that kernels take; its attitude and instrument leave the system.
  const shape: Shape = { stars, observations, knots: KNOTS, pixels: ORDERS, intervals: 1, ccds: 1, globals: 0 };
  return {
    shape,
    smaller: "fewer stars",
    starRow,
    mayLeave: true,
    epochs,
    leftStars,
    async write({ queue }, rows, window) {
      const [first, end] = window.rows;
      const count = end - first;
      const star = new Int32Array(count);
      const kept = coefficients.slice(ASTROMETRIC * first, ASTROMETRIC * end);
      for (let s = window.stars[0]; s < window.stars[1]; s++) {
        const [from, to] = [starRow[s] - first, starRow[s + 1] - first];
        star.fill(s - window.stars[0], from, to);
        if (!enough(s)) kept.fill(0, ASTROMETRIC * from, ASTROMETRIC * to);
      }
      queue.write(rows.astrometric, kept);
      queue.write(rows.star, star);
      for (const [view, width] of [
        [rows.attitude, ATTITUDE],
        [rows.instrument, INSTRUMENT],
      ] as const)
        queue.write(view, new Float64Array(width * count));
      queue.write(rows.knot, new Int32Array(count));
      queue.write(rows.column, new Int32Array(INSTRUMENT * count));
    },
    constraints: () => ({ rowStart: Int32Array.of(0), columns: new Int32Array(0), values: new Float64Array(0), first: 0 }),
    exact: () => ({
      x: new Float64Array(sections(shape).unknowns),
      noise: knownTerms.map((term, row) => (enough(starOf(starRow, row)) ? term : 0)),
    }),
  };
}

/** Star of a row, by halving. */
function starOf(starRow: Int32Array, row: number): number {
  let [low, high] = [0, starRow.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starRow[middle] <= row) low = middle;
    else high = middle;
  }
  return low;
}
