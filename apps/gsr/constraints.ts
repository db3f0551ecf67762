import type { Shape } from "./shape.js";
import { instrumentLayout } from "./shape.js";

/** Coefficients of the constraints, which stand far above the observations'. */
const WEIGHT = 100;

/** A sparse matrix by rows; each caller says which unknown `columns` count from. */
export interface SparseRows {
  rowStart: Int32Array;
  columns: Int32Array;
  values: Float64Array;
}

/**
 * The constraint rows that fix the instrument's degeneracies, with columns that count instrument unknowns: for each interval of time, the
 * first-order large-scale terms of all CCDs sum to zero (along scan over both fields of view, across scan for each); for each CCD, the
 * small-scale terms have no component along the Legendre polynomials of degree 0, 1 and 2 over its pixel columns. `weight` is the coefficient
 * of a 1.
 */
export function constraintRows(shape: Shape, weight = WEIGHT): SparseRows {
  const { fields, ccds, largeAlong, largeAcross, smallAlong, smallAcross } = instrumentLayout(shape);
  const { intervals, pixels } = shape;
  const rowStart = [0];
  const columns: number[] = [];
  const values: number[] = [];
  const add = (column: number, value: number) => {
    columns.push(column);
    values.push(weight * value);
  };
  const large = (block: number, field: number, interval: number) => {
    for (let c = 0; c < ccds; c++) add(block + (field * ccds + c) * intervals + interval, 1);
  };

  for (let t = 0; t < intervals; t++) {
    for (let f = 0; f < fields; f++) large(largeAlong[0], f, t);
    rowStart.push(columns.length);
  }
  for (let t = 0; t < intervals; t++) {
    for (let f = 0; f < fields; f++) {
      large(largeAcross[0], f, t);
      rowStart.push(columns.length);
    }
  }
  for (const block of [smallAlong, smallAcross]) {
    for (let c = 0; c < ccds; c++) {
      for (const legendre of LEGENDRE) {
        for (let p = 0; p < pixels; p++) add(block + c * pixels + p, legendre((p + 0.5) / pixels));
        rowStart.push(columns.length);
      }
    }
  }
  return { rowStart: Int32Array.from(rowStart), columns: Int32Array.from(columns), values: Float64Array.from(values) };
}

/** Shifted Legendre polynomials on [0, 1]; the published program's normalisation of the last one. */
const LEGENDRE = [() => 1, (x: number) => 2 * (x - 0.5), (x: number) => 6 * (x - 0.5) * (x - 0.5) - 0.5];

/** The rows of both matrices. */
export function joined(a: SparseRows, b: SparseRows): SparseRows {
  return {
    rowStart: Int32Array.from([...a.rowStart, ...b.rowStart.subarray(1).map((start) => a.columns.length + start)]),
    columns: Int32Array.from({ length: a.columns.length + b.columns.length }, (_, e) => a.columns[e] ?? b.columns[e - a.columns.length]),
    values: Float64Array.from({ length: a.values.length + b.values.length }, (_, e) => a.values[e] ?? b.values[e - a.values.length]),
  };
}

/** The entries in columns that are seen, without rows that become empty. */
export function onSeen({ rowStart, columns, values }: SparseRows, seen: (column: number) => boolean): SparseRows {
  const starts = [0];
  const kept: number[] = [];
  for (let r = 0; r + 1 < rowStart.length; r++) {
    for (let e = rowStart[r]; e < rowStart[r + 1]; e++) if (seen(columns[e])) kept.push(e);
    if (kept.length > starts[starts.length - 1]) starts.push(kept.length);
  }
  return {
    rowStart: Int32Array.from(starts),
    columns: Int32Array.from(kept, (e) => columns[e]),
    values: Float64Array.from(kept, (e) => values[e]),
  };
}

/** The same matrix by columns: `columns` of the result are the rows of the argument. */
export function transposed({ rowStart, columns, values }: SparseRows, columnCount: number): SparseRows {
  const start = new Int32Array(columnCount + 1);
  for (const c of columns) start[c + 1]++;
  for (let c = 0; c < columnCount; c++) start[c + 1] += start[c];
  const next = start.slice(0, columnCount);
  const rows = new Int32Array(columns.length);
  const moved = new Float64Array(columns.length);
  for (let r = 0; r + 1 < rowStart.length; r++) {
    for (let e = rowStart[r]; e < rowStart[r + 1]; e++) {
      const to = next[columns[e]]++;
      rows[to] = r;
      moved[to] = values[e];
    }
  }
  return { rowStart: start, columns: rows, values: moved };
}
