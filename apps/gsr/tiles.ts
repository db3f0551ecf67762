import type { Device, Queue, View } from "isoform";
import { i32 } from "isoform";
import type { LocalMember } from "isoform/set";
import type { SparseRows } from "./constraints.js";
import type { Vectors } from "./lsqr.js";
import type { ScalarName, Scalars } from "./scalars.js";
import { SUMS } from "./scalars.js";
import { sharedUnknowns } from "./shape.js";
import type { NarrowRows } from "./narrow-rows.js";
import type { FactoredColumns, FactoredVector } from "./factored-part.js";
import type { SortedSection } from "./lists.js";
import type { DeviceSparse, System } from "./system.js";
import { sharedOf, uploadSparse } from "./system.js";

/*
 * Parts of a member's share of the system: tiles of stars, and what constraint rows hold of them.
 */

/** A member's part of the system, with its vectors. */
export interface Share {
  readonly member: LocalMember;
  readonly system: System;
  readonly vectors: Vectors;
  readonly scalars: Scalars;
}

/** Data that a tile of stars has on the device for any number of sides: its rows, and copies of them. */
export interface TileCopies {
  readonly rows: NarrowRows;
  readonly attitude?: SortedSection;
  /** For rows in the order of their start knots: the first row of each, and the stars' part of A^T u. */
  readonly ordered?: { readonly knotRow: View<"i32">; readonly stars: SortedSection };
  readonly instrument?: SortedSection;
  /** Entries of constraint rows on its stars. */
  readonly constraints?: LongRows;
}

/** Data that a member has on the device for any number of sides beside the system. */
export interface Copies {
  readonly tiles: readonly TileCopies[];
  /** Entries of constraint rows on shared unknowns. */
  readonly constraints: LongRows;
  /** For rows as factors: what their sweep reads of columns. */
  readonly columns?: FactoredColumns;
  /** For each constraint row the place among those that hold unknowns of stars, or -1; and these rows. */
  readonly starPlace: View<"i32">;
  readonly starRows: View<"i32">;
  free(): void;
}

/** A tile of stars with all that its launches need. */
export interface Tile extends TileCopies {
  readonly u: View<"f64">;
  /** Its stars' part of t, v and w. */
  readonly t: View<"f64">;
  readonly v: View<"f64">;
  readonly w: View<"f64">;
  readonly leaf: Leaf;
}

/** Rows of many entries on a device, whose products are sums of pieces. */
export interface LongRows extends DeviceSparse {
  /** First entry of each piece, and the end of the last; a row has one or more, or none. */
  readonly bounds: View<"i32">;
  /** First piece of each row, and the end of the last. */
  readonly first: View<"i32">;
}

/** Entries of a piece, at most. */
const PIECE = 1024;

/** Copies rows to a device, cut into pieces. */
export function uploadLong(device: Device, rows: SparseRows): LongRows {
  const { rowStart } = rows;
  const bounds: number[] = [];
  const first = [0];
  for (let r = 0; r + 1 < rowStart.length; r++) {
    for (let e = rowStart[r]; e < rowStart[r + 1]; e += PIECE) bounds.push(e);
    first.push(bounds.length);
  }
  return {
    ...uploadSparse(device, rows),
    bounds: device.from(i32, [...bounds, rowStart[rowStart.length - 1]]),
    first: device.from(i32, first),
  };
}

/** Sums that a tile leaves of an iteration. */
export interface Leaf {
  readonly all: View<"f64">;
  /** Share of A^T u for unknowns that stars share. */
  readonly shared: ReturnType<typeof sharedOf>;
  /** Products of constraint rows with the tile's part of v, and with its part of T. */
  readonly timesV: View<"f64">;
  readonly timesT: View<"f64">;
  /** A sum, an element for each side. */
  at(sum: (typeof SUMS.merged)[number]): View<"f64">;
}

/** The parts of a leaf of `SUMS` and of products of `rows` constraint rows, in front of the sums. */
export function leafOf(system: Pick<System, "shape">, all: View<"f64">, rows: number, both: boolean): Leaf {
  const shared = sharedUnknowns(system.shape);
  const sums = shared + (both ? 2 : 1) * rows;
  return {
    all,
    shared: sharedOf(system.shape, all.slice([0, shared])),
    timesV: all.slice([shared, shared + rows]),
    timesT: all.slice(both ? [shared + rows, shared + 2 * rows] : [shared, shared]),
    at(sum) {
      return all.at(0, sums + SUMS.merged.indexOf(sum));
    },
  };
}

/** A share with its tiles, and what it has of constraint rows. */
export interface SharePart {
  readonly share: Share;
  readonly copies: Copies;
  readonly tiles: readonly Tile[];
  /** Places of unknowns that stars share in a vector. */
  readonly shared: readonly [first: number, end: number];
  /** The constraint rows' part of u. */
  readonly c: View<"f64">;
  /** The attitude's part of v for the sweep, knot after knot. */
  readonly attitude: View<"f64">;
  /** For rows as factors: what their sweep reads of v. */
  readonly factored?: FactoredVector;
  /** For rows in the order of their start knots: the sums of each, and memory that nothing reads. */
  readonly knotSums?: View<"f64">;
  readonly unused?: View<"f64">;
  /** Products of pieces of constraint rows. */
  readonly pieces: View<"f64">;
  /** Products of constraint rows' entries on stars with each other. */
  gram?: View<"f64">;
  at(name: ScalarName): View<"f64">;
}

/** The entries of some constraint rows in a range of a system's unknowns, whose columns count from its first. */
export function entriesOf(
  { constraints, constrainedUnknowns }: System,
  rows: readonly number[],
  [first, end]: readonly [number, number],
): SparseRows {
  const rowStart = [0];
  const entries: number[] = [];
  const columnOf = (e: number): number => constrainedUnknowns[0] + constraints.columns[e];
  for (const r of rows) {
    for (let e = constraints.rowStart[r]; e < constraints.rowStart[r + 1]; e++)
      if (columnOf(e) >= first && columnOf(e) < end) entries.push(e);
    rowStart.push(entries.length);
  }
  return {
    rowStart: Int32Array.from(rowStart),
    columns: Int32Array.from(entries, (e) => columnOf(e) - first),
    values: Float64Array.from(entries, (e) => constraints.values[e]),
  };
}

/** A sparse matrix of a device. */
export async function readSparse(queue: Queue, { start, index, values }: DeviceSparse): Promise<SparseRows> {
  const [rowStart, columns, entries] = [await queue.read(start), await queue.read(index), await queue.read(values)];
  return { rowStart: Int32Array.from(rowStart), columns: Int32Array.from(columns), values: Float64Array.from(entries) };
}

/** Products of the first `count` rows with each other. */
export function gramOf({ rowStart, columns, values }: SparseRows, count: number): Float64Array {
  const rows = Array.from({ length: count }, (_, r) => {
    const places = columns.subarray(rowStart[r], rowStart[r + 1]);
    return new Map(Array.from(places, (column, n) => [column, values[rowStart[r] + n]]));
  });
  return Float64Array.from({ length: count * count }, (_, e) => {
    const [a, b] = [rows[Math.floor(e / count)], rows[e % count]];
    let product = 0;
    for (const [column, value] of a) product += value * (b.get(column) ?? 0);
    return product;
  });
}
