import { FIELDS, ORDERS, PUBLISHED } from "../shape.js";

/*
 * How finely the instrument is calibrated. Blocks of unknowns with too few observations leave the system: their observations stay.
 */

/** Observations an unknown that a block needs. */
const ROWS_AN_UNKNOWN = 10;
/** Pixel columns of a CCD that leave something beside the three polynomials that constraints take away. */
export const FEWEST_PIXELS = ORDERS + 1;

/** CCDs: `rows` of them across scan with `strips` along; row `shortRow`, counted from 0, has one less. */
export interface FocalPlane {
  readonly rows: number;
  readonly strips: number;
  readonly shortRow: number;
}

/** Gaia's 62 astrometric CCDs: seven rows of nine, the fourth of eight. */
export const GAIA_PLANE: FocalPlane = { rows: 7, strips: 9, shortRow: 3 };

export const ccdsOf = ({ rows, strips, shortRow }: FocalPlane): number => rows * strips - (shortRow < rows ? 1 : 0);

/** Strips of a row of CCDs. */
export const stripsOf = ({ strips, shortRow }: FocalPlane, row: number): number => strips - (row === shortRow ? 1 : 0);

/** A transit as the instrument's blocks see it. */
interface CalibratingTransit {
  readonly field: number;
  /** Row of CCDs. */
  readonly row: number;
  /** Whether all strips observe across scan, not the first alone. */
  readonly bright: boolean;
  /** Time since the law began, as a part of its duration. */
  readonly part: number;
}

/** A block of the instrument's unknowns that has left the system. */
export interface LeftBlock {
  readonly block: "small scale" | "large scale";
  readonly axis: "along" | "across";
  /** CCD from 0 on; for large-scale blocks also the field (0 preceding, 1 following) and the interval of time. */
  readonly ccd: number;
  readonly field?: number;
  readonly interval?: number;
  readonly rows: number;
  readonly unknowns: number;
}

export interface InstrumentSizes {
  readonly pixels: number;
  readonly intervals: number;
  /** [axis][CCD], 1 where the block stays, else 0. */
  readonly keepSmall: Float64Array;
  /** [axis][field, CCD, interval] */
  readonly keepLarge: Float64Array;
  readonly left: readonly LeftBlock[];
}

/** Observations of an axis (0 along, 1 across) on a strip, from transits and from bright ones. */
const rowsOn = (axis: number, strip: number, all: number, bright: number): number => (axis === 1 && strip > 0 ? bright : all);

/**
 * Pixel columns a CCD: a tenth of the observations of the poorest CCD and axis, 4 to 1966. Intervals of time: a thirtieth of the observations of the
 * poorest field, CCD and axis, 1 to 22. Blocks with fewer than ten observations an unknown leave.
 */
export function instrumentSizes(plane: FocalPlane, transits: readonly CalibratingTransit[], pixels: number | "auto"): InstrumentSizes {
  const counts = (parts: number) => {
    const of = new Int32Array(2 * FIELDS * plane.rows * parts);
    for (const { field, row, bright, part } of transits) {
      const at = 2 * ((field * plane.rows + row) * parts + Math.min(Math.floor(part * parts), parts - 1));
      of[at]++;
      if (bright) of[at + 1]++;
    }
    return of;
  };
  const whole = counts(1);
  const poorest = (fields: readonly (readonly number[])[]): number => {
    let rows = Infinity;
    for (const group of fields)
      for (let row = 0; row < plane.rows; row++)
        for (let strip = 0; strip < stripsOf(plane, row); strip++)
          for (let axis = 0; axis < 2; axis++) {
            const sum = (which: number) => group.reduce((t, f) => t + whole[2 * (f * plane.rows + row) + which], 0);
            rows = Math.min(rows, rowsOn(axis, strip, sum(0), sum(1)));
          }
    return rows;
  };
  const clamp = (value: number, least: number, most: number) => Math.max(least, Math.min(most, Math.floor(value)));
  const chosen = pixels === "auto" ? clamp(poorest([[0, 1]]) / ROWS_AN_UNKNOWN, FEWEST_PIXELS, PUBLISHED.pixels) : pixels;
  const intervals = clamp(poorest([[0], [1]]) / (ORDERS * ROWS_AN_UNKNOWN), 1, PUBLISHED.intervals);
  return { pixels: chosen, intervals, ...leaveOut(plane, counts(intervals), chosen, intervals) };
}

/** Decides block by block; `counts` are transits, and bright ones, by field, row of CCDs and interval. */
function leaveOut(plane: FocalPlane, counts: Int32Array, pixels: number, intervals: number): Omit<InstrumentSizes, "pixels" | "intervals"> {
  const ccds = ccdsOf(plane);
  const keepSmall = new Float64Array(2 * ccds);
  const keepLarge = new Float64Array(2 * FIELDS * ccds * intervals);
  const left: LeftBlock[] = [];
  for (const [axis, name] of (["along", "across"] as const).entries()) {
    let ccd = 0;
    for (let row = 0; row < plane.rows; row++)
      for (let strip = 0; strip < stripsOf(plane, row); strip++, ccd++) {
        let total = 0;
        for (let field = 0; field < FIELDS; field++)
          for (let interval = 0; interval < intervals; interval++) {
            const at = 2 * ((field * plane.rows + row) * intervals + interval);
            const rows = rowsOn(axis, strip, counts[at], counts[at + 1]);
            total += rows;
            const stays = rows >= ROWS_AN_UNKNOWN * ORDERS;
            keepLarge[((axis * FIELDS + field) * ccds + ccd) * intervals + interval] = stays ? 1 : 0;
            if (!stays) left.push({ block: "large scale", axis: name, ccd, field, interval, rows, unknowns: ORDERS });
          }
        const stays = total >= ROWS_AN_UNKNOWN * pixels;
        keepSmall[axis * ccds + ccd] = stays ? 1 : 0;
        if (!stays) left.push({ block: "small scale", axis: name, ccd, rows: total, unknowns: pixels });
      }
  }
  return { keepSmall, keepLarge, left };
}
