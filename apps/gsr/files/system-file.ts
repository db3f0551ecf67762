import type { Device } from "isoform";
import { IsoformError, LaunchError } from "isoform";
import type { Dataset, Group } from "isoform/io";
import { readHdf5 } from "isoform/io";
import type { DeviceSet } from "isoform/set";
import { requireMemory } from "isoform/set";
import type { SparseRows } from "../constraints.js";
import { onSeen } from "../constraints.js";
import type { Shape } from "../shape.js";
import { ASTROMETRIC, ATTITUDE, INSTRUMENT, KNOTS, instrumentLayout, sections } from "../shape.js";
import type { RowSource } from "../source.js";

/*
 * Systems of the published structure that other programs have made, in the group /system of an HDF5 file.
 */

/** A system as its file has it: rows in the order of their stars. */
export interface SystemRead {
  readonly path: string;
  readonly shape: Shape;
  /** First row of each star, and the end of the last. */
  readonly starRow: Int32Array;
  /** [row][5], [row][12] and [row][6] */
  readonly astrometric: Float64Array;
  readonly attitude: Float64Array;
  readonly instrument: Float64Array;
  /** A coefficient a row, where the shape has a global unknown. */
  readonly global?: Float64Array;
  readonly knot: Int32Array;
  /** [row][6] */
  readonly column: Int32Array;
  readonly knownTerms: Float64Array;
  /** Rows whose known terms are 0; columns count unknowns, but the global one. */
  readonly constraints: SparseRows;
}

const SIZES = ["stars", "knots", "pixels", "intervals", "ccds"] as const;
/** Bytes of a row in memory. */
const ROW_BYTES = 8 * (ASTROMETRIC + ATTITUDE + INSTRUMENT + 2) + 4 * (INSTRUMENT + 2);

const NO_CONSTRAINTS: SparseRows = { rowStart: Int32Array.of(0), columns: new Int32Array(0), values: new Float64Array(0) };

/**
 * Reads a system: datasets astrometric [rows][5], attitude [rows][12], instrument [rows][6], known_terms [rows] of f64, star [rows], knot [rows], column
 * [rows][6] of whole numbers from 0 on, perhaps global [rows], and a group constraints with row_start, column (of unknowns, but the global one) and value; attributes stars,
 * knots, pixels, intervals, ccds. Throws IsoformError that names the file, and the dataset, row and value that is wrong.
 */
export async function readSystem(path: string): Promise<SystemRead> {
  return readHdf5(path, (root) => {
    const group = root.groups.system;
    if (!group) throw new IsoformError(`${path} has no group /system: it needs one with the rows of the system`);
    return new Reader(path, group).system();
  });
}

class Reader {
  constructor(
    private readonly path: string,
    private readonly group: Group,
  ) {}

  system(): SystemRead {
    const { path } = this;
    const size = (name: string): number => this.size(name);
    const [stars, knots, pixels, intervals, ccds] = SIZES.map(size);
    if (knots < KNOTS) throw this.error(`the attribute "knots" is ${knots}, and a row has ${KNOTS}`);
    const star = this.integers("star", this.group);
    const rows = star.length;
    if (rows === 0) throw this.error("it has no rows");
    const hasGlobal = this.group.datasets.global !== undefined;
    const shape: Shape = { stars, observations: rows, knots, pixels, intervals, ccds, globals: hasGlobal ? 1 : 0 };
    this.requireWithin("knot", this.integers("knot", this.group, [rows]), knots - KNOTS + 1);
    this.requireWithin("column", this.integers("column", this.group, [rows, INSTRUMENT]), instrumentLayout(shape).size);
    return {
      path,
      shape,
      starRow: this.starRows(star, stars),
      astrometric: this.reals("astrometric", [rows, ASTROMETRIC]),
      attitude: this.reals("attitude", [rows, ATTITUDE]),
      instrument: this.reals("instrument", [rows, INSTRUMENT]),
      ...(hasGlobal ? { global: this.reals("global", [rows]) } : {}),
      knot: this.integers("knot", this.group, [rows]),
      column: this.integers("column", this.group, [rows, INSTRUMENT]),
      knownTerms: this.reals("known_terms", [rows]),
      constraints: this.constraints(sections(shape).global),
    };
  }

  private error(problem: string): IsoformError {
    return new IsoformError(`${this.path}: /system: ${problem}`);
  }

  private size(name: string): number {
    const value = this.group.attributes[name];
    const number = typeof value === "bigint" ? Number(value) : value;
    if (number === undefined) throw this.error(`it has no attribute "${name}": it needs ${SIZES.join(", ")}`);
    if (typeof number !== "number" || !Number.isInteger(number) || number < 1 || number >= 2 ** 31)
      throw this.error(`the attribute "${name}" is ${String(number)}: give a whole number from 1 to 2147483647`);
    return number;
  }

  private dataset(name: string, from: Group, shape?: readonly number[]): Dataset {
    const found = from.datasets[name];
    if (!found) throw this.error(`it has no dataset "${name}"`);
    const expected = shape ?? [found.shape[0]];
    if (found.shape.length !== expected.length || found.shape.some((extent, axis) => extent !== expected[axis]))
      throw this.error(`the dataset "${name}" is [${found.shape.join("][")}], and [${expected.join("][")}] is expected`);
    return found;
  }

  private reals(name: string, shape: readonly number[], from = this.group): Float64Array {
    const dataset = this.dataset(name, from, shape);
    if (dataset.type !== "f64" && dataset.type !== "f32") throw this.error(`the dataset "${name}" has ${dataset.type}: give f64`);
    const values = Float64Array.from(dataset.read() as Float64Array);
    const wrong = values.findIndex((value) => !Number.isFinite(value));
    if (wrong >= 0) throw this.error(`${placeOf(name, wrong, shape)} is ${values[wrong]}`);
    return values;
  }

  private integers(name: string, from: Group, shape?: readonly number[]): Int32Array {
    const dataset = this.dataset(name, from, shape);
    if (dataset.type !== "i32" && dataset.type !== "i64" && dataset.type !== "u32")
      throw this.error(`the dataset "${name}" has ${dataset.type}: give i32`);
    const values = dataset.read() as Int32Array | BigInt64Array;
    const result = new Int32Array(values.length);
    for (const [at, value] of values.entries()) {
      result[at] = Number(value);
      if (BigInt(result[at]) !== BigInt(value)) throw this.error(`${placeOf(name, at, dataset.shape)} is ${value}, which is too large`);
    }
    return result;
  }

  private requireWithin(name: string, values: Int32Array, end: number): void {
    const wrong = values.findIndex((value) => value < 0 || value >= end);
    const { shape } = this.group.datasets[name];
    if (wrong >= 0) throw this.error(`${placeOf(name, wrong, shape)} is ${values[wrong]}, and it can be from 0 to ${end - 1}`);
  }

  private starRows(star: Int32Array, stars: number): Int32Array {
    this.requireWithin("star", star, stars);
    const starRow = new Int32Array(stars + 1);
    for (const [row, s] of star.entries()) {
      if (row > 0 && s < star[row - 1])
        throw this.error(`star[${row}] is ${s} after ${star[row - 1]}: rows lie in the order of their stars, so sort them`);
      starRow[s + 1]++;
    }
    for (let s = 0; s < stars; s++) starRow[s + 1] += starRow[s];
    return starRow;
  }

  private constraints(end: number): SparseRows {
    const from = this.group.groups.constraints;
    if (!from) return NO_CONSTRAINTS;
    const rowStart = this.integers("row_start", from);
    const columns = this.integers("column", from);
    const values = this.reals("value", [columns.length], from);
    const wrong = columns.findIndex((column) => column < 0 || column >= end);
    if (wrong >= 0)
      throw this.error(`constraints/column[${wrong}] is ${columns[wrong]}, and constraints bind the unknowns 0 to ${end - 1}`);
    const broken = rowStart.findIndex((start, r) => (r === 0 ? start !== 0 : start < rowStart[r - 1]));
    if (broken >= 0 || rowStart.length === 0 || rowStart.at(-1) !== columns.length)
      throw this.error(`constraints/row_start must begin with 0, never fall, and end with the ${columns.length} entries`);
    return { rowStart, columns, values };
  }
}

/** A value's place as people write it: knot[17], or column[17][2]. */
function placeOf(name: string, at: number, shape: readonly number[]): string {
  const width = shape[1] ?? 1;
  return `${name}[${Math.floor(at / width)}]${shape.length > 1 ? `[${at % width}]` : ""}`;
}

/** Rows of a system that was read; its exact solution is not known. Throws LaunchError where they do not fit the device's memory. */
export function systemRows(device: DeviceSet | Device, system: SystemRead): RowSource {
  const { shape, starRow, constraints } = system;
  const bytes = shape.observations * ROW_BYTES;
  requireMemory(device, { what: `the system of ${system.path}`, bytes, choose: "fewer rows" });
  return {
    shape,
    smaller: "fewer rows",
    starRow,
    mayLeave: true,
    async write({ queue }, rows, { stars, rows: [first, end] }) {
      const part = <A extends Float64Array | Int32Array>(values: A, width: number): A => values.slice(first * width, end * width) as A;
      const star = new Int32Array(end - first);
      for (let s = stars[0]; s < stars[1]; s++) star.fill(s - stars[0], starRow[s] - first, starRow[s + 1] - first);
      queue.write(rows.star, star);
      queue.write(rows.astrometric, part(system.astrometric, ASTROMETRIC));
      queue.write(rows.attitude, part(system.attitude, ATTITUDE));
      queue.write(rows.instrument, part(system.instrument, INSTRUMENT));
      queue.write(rows.knot, part(system.knot, 1));
      queue.write(rows.column, part(system.column, INSTRUMENT));
      if (system.global && rows.global) queue.write(rows.global, part(system.global, 1));
    },
    constraints: (seen) => ({ ...(seen ? onSeen(constraints, seen) : constraints), first: 0 }),
    exact: () => ({ x: new Float64Array(sections(shape).unknowns), noise: system.knownTerms }),
  };
}

/** Options that say what a system is made of, as they are typed. */
const NOT_WITH_SYSTEM: Readonly<Record<string, string>> = {
  generator: "generator",
  gib: "gib",
  global: "global",
  stars: "stars",
  scanLaw: "scan-law",
  epochs: "epochs",
  years: "years",
  knot: "knot",
  pixels: "pixels",
  axes: "axes",
  frame: "no-frame",
  known: "known",
  outliers: "outliers",
  robust: "robust",
};

/** Throws LaunchError for options that do not go with a system from a file. */
export function requireNoOthers(isGiven: (name: string) => boolean): void {
  const other = Object.entries(NOT_WITH_SYSTEM).find(([name]) => isGiven(name));
  if (other) throw new LaunchError(`--${other[1]} is not for --system, whose file has the rows of the system: leave it out`);
}
