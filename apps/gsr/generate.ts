import { f64, fixed, i32, kernel, u32, view } from "isoform";
import { philox } from "isoform/patterns";
import type { Rows } from "./published.js";
import { allocateRows } from "./published.js";
import type { Shape } from "./shape.js";
import { ATTITUDE, ASTROMETRIC, INSTRUMENT, KNOTS, attitudePass, instrumentLayout } from "./shape.js";

/*
 * The system made on the device: the published structure with numbers that depend on nothing but seed, row and position, so every
 * device makes the same bits. The counter is (row, block, 0, 0); blocks 0 and 1 give the indices, 2 and 3 the astrometric
 * coefficients, 4 to 6 the attitude's, 7 and 8 the instrument's, 9 the global one.
 */

/** A random word as a number in (0, 1). */
export function unit(word: number): number {
  return (+word + 0.5) * 2.3283064365386963e-10;
}

/**
 * The star of each row from row `first` on, counted from `firstStar`: rows are ordered by star, the first `longer` stars have `each` + 1 rows, the others
 * `each`.
 */
export const starOfRow = kernel(
  "starOfRow",
  { first: i32, firstStar: i32, each: i32, longer: i32, star: view(i32) },
  ({ first, firstStar, each, longer, star }, n) => {
    const i = first + n;
    const short = longer * (each + 1);
    star[n] = (i < short ? (i / (each + 1)) | 0 : longer + (((i - short) / each) | 0)) - firstStar;
  },
);

/** Attitude index and instrument columns from row `first` on; the first rows of all pass over all of them, so that no column is empty. */
export const generateIndices = kernel(
  "generateIndices",
  { seed: u32, first: i32, pass: i32, lastKnot: i32, lastColumn: i32, knot: view(i32), column: view(i32, 2) },
  ({ seed, first, pass, lastKnot, lastColumn, knot, column }, n) => {
    const i = first + n;
    const r = new Uint32Array(4);
    r[0] = i >>> 0;
    philox(r, seed, 0);
    const drawn = (unit(r[0]) * (lastKnot + 1)) | 0;
    knot[n] = i < pass ? Math.min(4 * i, lastKnot) : Math.min(drawn, lastKnot);
    column[n][0] = i <= lastColumn ? i : (unit(r[1]) * lastColumn) | 0;
    column[n][1] = (unit(r[2]) * lastColumn) | 0;
    column[n][2] = (unit(r[3]) * lastColumn) | 0;
    const s = new Uint32Array(4);
    s[0] = i >>> 0;
    s[1] = 1 >>> 0;
    philox(s, seed, 0);
    column[n][3] = (unit(s[0]) * lastColumn) | 0;
    column[n][4] = (unit(s[1]) * lastColumn) | 0;
    column[n][5] = (unit(s[2]) * lastColumn) | 0;
  },
  () => [philox, unit],
);

/** One section's coefficients from row `first` on, `width` a row in the blocks from `firstBlock` on. */
export const generateCoefficients = kernel(
  "generateCoefficients",
  { seed: u32, first: i32, firstBlock: u32, width: fixed(i32), a: view(f64, 2) },
  ({ seed, first, firstBlock, width, a }, n) => {
    for (let e = 0; e < width; e += 4) {
      const r = new Uint32Array(4);
      r[0] = (first + n) >>> 0;
      r[1] = firstBlock + (e >>> 2);
      philox(r, seed, 0);
      for (let k = 0; k < 4; k++) if (e + k < width) a[n][e + k] = 2 * unit(r[k]) - 1;
    }
  },
  () => [philox, unit],
);

/** Block of a row at which each section's coefficients begin. */
export const FIRST_BLOCK = { astrometric: 2, attitude: 4, instrument: 7, global: 9 };

/** Rows `first` to `end` of the same system made on the host: what a device's is checked against. */
export function parallelRows(shape: Shape, seed: number, first = 0, end = shape.observations): Rows {
  const lastKnot = shape.knots - KNOTS;
  const lastColumn = instrumentLayout(shape).size - 1;
  const pass = attitudePass(shape);
  const rows = { ...allocateRows(end - first, shape), first };
  const word = new Uint32Array(4);
  const draw = (row: number, block: number) => {
    word.set([row, block, 0, 0]);
    philox(word, seed, 0);
  };
  const coefficients = (into: Float64Array, width: number, r: number, firstBlock: number) => {
    for (let k = 0; k < width; k++) {
      if (k % 4 === 0) draw(first + r, firstBlock + k / 4);
      into[r * width + k] = 2 * unit(word[k % 4]) - 1;
    }
  };
  for (let r = 0; r < rows.count; r++) {
    const i = first + r;
    draw(i, 0);
    rows.knot[r] = Math.min(i < pass ? KNOTS * i : Math.trunc(unit(word[0]) * (lastKnot + 1)), lastKnot);
    for (let k = 0; k < INSTRUMENT; k++) {
      if (k === 3) draw(i, 1);
      rows.column[r * INSTRUMENT + k] = k === 0 && i <= lastColumn ? i : Math.trunc(unit(word[(k + 1) % 4]) * lastColumn);
    }
    coefficients(rows.astrometric, ASTROMETRIC, r, FIRST_BLOCK.astrometric);
    coefficients(rows.attitude, ATTITUDE, r, FIRST_BLOCK.attitude);
    coefficients(rows.instrument, INSTRUMENT, r, FIRST_BLOCK.instrument);
    if (rows.global) coefficients(rows.global, 1, r, FIRST_BLOCK.global);
  }
  return rows;
}
