import type { Device, LaunchOptions, LayoutName, View } from "isoform";
import { LaunchError, f64, i32, range, teams } from "isoform";
import type { Progress } from "isoform/portability";
import { requireMemory } from "isoform/set";
import type { SparseRows } from "./constraints.js";
import { transposed } from "./constraints.js";
import * as kernels from "./kernels.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, ATTITUDE, AXES, INSTRUMENT, ROW, sections } from "./shape.js";
import type { Constraints, Observations, RowSource, Seen } from "./source.js";
import { inverseNorms } from "./vectors.js";

/** A vector over the unknowns, and its sections. */
export interface Unknowns {
  all: View<"f64">;
  /** [star][5] */
  astrometric: View<"f64">;
  /** [axis][knot] */
  attitude: View<"f64">;
  instrument: View<"f64">;
  /** [1], where the shape has a global unknown. */
  global?: View<"f64">;
}

/** A sparse matrix on the device. */
interface DeviceSparse {
  start: View<"i32">;
  index: View<"i32">;
  values: View<"f64">;
}

/** The system A x = b on a device: observations first, then constraints. Its coefficients are scaled to columns of unit norm. */
export interface System extends Observations {
  readonly device: Device;
  readonly shape: Shape;
  /** Number of constraint rows. */
  readonly constraintCount: number;
  /** Unknowns that constraints may hold: the first, from which their columns count, and the end. */
  readonly constrainedUnknowns: readonly [first: number, end: number];
  /** First row of each star, and the end of the last. */
  readonly starRow: View<"i32">;
  readonly byRow: DeviceSparse;
  readonly byColumn: DeviceSparse;
  readonly knownTerms: View<"f64">;
  /** Column scaling; 0 for unknowns that have left the system. */
  readonly scaling: Unknowns;
  /** The solution that the known terms were made for; undefined where it is 1 for all unknowns. */
  readonly exact?: Float64Array;
  free(): void;
}

/** Sections of a vector over the unknowns of a system of this shape. */
export function unknowns(shape: Shape, all: View<"f64">): Unknowns {
  const { attitude, instrument, global, unknowns: end } = sections(shape);
  return {
    all,
    astrometric: all.slice([0, attitude]).reshape(shape.stars, ASTROMETRIC),
    attitude: all.slice([attitude, instrument]).reshape(AXES, shape.knots),
    instrument: all.slice([instrument, global]),
    global: shape.globals ? all.slice([global, end]) : undefined,
  };
}

/** The part of a vector over the unknowns that the constraints' columns count in. */
export const constrained = ({ constrainedUnknowns }: System, all: View<"f64">): View<"f64"> => all.slice(constrainedUnknowns);

/** Bytes of device memory: the system, and the solver's six vectors. */
export function footprint({ shape, constraints }: RowSource): number {
  const rows = shape.observations;
  const { first, rowStart, columns } = constraints();
  const sparse = 24 * columns.length + 4 * (rowStart.length + sections(shape).global - first + 1);
  return (
    rows * (8 * (ROW + shape.globals) + 4 * (2 + INSTRUMENT)) +
    4 * (shape.stars + 1) +
    sparse +
    2 * 8 * (rows + rowStart.length - 1) +
    5 * 8 * sections(shape).unknowns
  );
}

/** Throws LaunchError if a system of these rows, with `more` bytes beside it, cannot fit the device. */
export function requireRoom(device: Device, source: RowSource, more = 0): void {
  const needed = footprint(source) + more;
  const { observations } = source.shape;
  const largest = 8 * ATTITUDE * observations;
  requireMemory(device, { what: `a system of ${observations} observations`, bytes: needed, largest, choose: source.smaller });
}

/** Options of `createSystem`. */
export interface SystemOptions extends LaunchOptions {
  /** Layout of the coefficients: `right` keeps rows together, `left` makes a plane of each column. */
  layout?: LayoutName;
}

/** Makes a system of the source's rows on the device and scales its columns to unit norm. */
export async function createSystem(
  device: Device,
  source: RowSource,
  { layout, ...launch }: SystemOptions,
  progress?: Progress,
): Promise<System> {
  const { shape } = source;
  const rows = shape.observations;
  const owned: View[] = [];
  const own = <V extends View>(array: V): V => (owned.push(array), array);
  const free = () => owned.forEach((array) => array.free());
  try {
    const observations: Observations = {
      astrometric: own(device.array(f64, [rows, ASTROMETRIC], { layout })),
      attitude: own(device.array(f64, [rows, ATTITUDE], { layout })),
      instrument: own(device.array(f64, [rows, INSTRUMENT], { layout })),
      global: shape.globals ? own(device.array(f64, rows)) : undefined,
      star: own(device.array(i32, rows)),
      knot: own(device.array(i32, rows)),
      column: own(device.array(i32, [rows, INSTRUMENT], { layout })),
    };
    const starRow = own(device.from(i32, source.starRow));
    const scaling = unknowns(shape, own(device.array(f64, sections(shape).unknowns)));
    await source.write(device, observations, launch, progress);
    await addSquares(device, observations, starRow, scaling, launch);
    const squares = source.mayLeave ? await device.queue.read(scaling.all) : undefined;
    const seen: Seen = (unknown) => !squares || squares[unknown] > 0;
    const constraints = source.constraints(seen);
    const { first, rowStart, columns, values } = constraints;
    const end = sections(shape).global;
    const sparse = (matrix: SparseRows): DeviceSparse => ({
      start: own(device.from(i32, matrix.rowStart)),
      index: own(device.from(i32, matrix.columns)),
      values: own(device.from(f64, matrix.values)),
    });
    const constraintCount = rowStart.length - 1;
    const exact = source.exact?.(constraints, seen);
    const system: System = {
      ...observations,
      device,
      shape,
      constraintCount,
      constrainedUnknowns: [first, end],
      starRow,
      byRow: sparse(constraints),
      byColumn: sparse(transposed({ rowStart, columns, values }, end - first)),
      knownTerms: own(device.array(f64, rows + constraintCount)),
      scaling,
      exact: exact?.x,
      free,
    };
    if (exact) await setProducts(system, constraints, exact, launch);
    else await setSums(system, constraints, launch);
    await scaleColumns(system, source.mayLeave ?? false, launch);
    return system;
  } catch (error) {
    free();
    throw error;
  }
}

/** Known terms of the identity test, x = 1: the sum of each row's coefficients. */
async function setSums(system: System, { rowStart, values }: SparseRows, options: LaunchOptions): Promise<void> {
  const { device, astrometric, attitude, instrument, knownTerms } = system;
  const rows = system.shape.observations;
  await device.run(kernels.rowSums, { astrometric, attitude, instrument, b: knownTerms.slice([0, rows]) }, range(rows), options);
  const sums = Array.from({ length: system.constraintCount }, (_, r) =>
    values.subarray(rowStart[r], rowStart[r + 1]).reduce((a, b) => a + b, 0),
  );
  device.queue.write(knownTerms.slice([rows, knownTerms.length]), sums);
}

/** Known terms of a given solution: the products of the unscaled rows with it, with noise on observations if there is any. */
async function setProducts(
  system: System,
  { first, rowStart, columns, values }: Constraints,
  { x, noise }: { x: Float64Array; noise?: Float64Array },
  options: LaunchOptions,
): Promise<void> {
  const { device, shape, knownTerms } = system;
  const rows = shape.observations;
  const solution = device.from(f64, x);
  const { astrometric, attitude, instrument, global } = unknowns(shape, solution);
  const b = knownTerms.slice([0, rows]);
  const each = range(rows);
  if (noise) device.queue.write(b, noise);
  await device.run(kernels.a1Astro, { a: system.astrometric, star: system.star, x: astrometric, b }, each, options);
  await device.run(kernels.a1Att, { a: system.attitude, knot: system.knot, x: attitude, b }, each, options);
  await device.run(kernels.a1Instr, { a: system.instrument, column: system.column, x: instrument, b }, each, options);
  if (system.global && global) await device.run(kernels.a1Global, { g: system.global, x: global, b }, each, options);
  solution.free();
  const terms = new Float64Array(system.constraintCount);
  if (!noise)
    for (let r = 0; r < terms.length; r++)
      for (let e = rowStart[r]; e < rowStart[r + 1]; e++) terms[r] += values[e] * x[first + columns[e]];
  device.queue.write(knownTerms.slice([rows, knownTerms.length]), terms);
}

/** Adds the squares of the observations' coefficients, column by column. */
async function addSquares(device: Device, a: Observations, starRow: View<"i32">, p: Unknowns, options: LaunchOptions): Promise<void> {
  const rows = range(a.star.length);
  await device.run(kernels.squaresAstro, { a: a.astrometric, starRow, p: p.astrometric }, teams(starRow.length - 1), options);
  await device.run(kernels.squaresAtt, { a: a.attitude, knot: a.knot, p: p.attitude }, rows, options);
  await device.run(kernels.squaresInstr, { a: a.instrument, column: a.column, p: p.instrument }, rows, options);
  if (a.global && p.global) await device.run(kernels.squaresGlobal, { g: a.global, p: p.global }, rows, options);
}

/** p = 1 / norm of each column over observations, whose squares it holds, and constraints; A := A p. */
async function scaleColumns(system: System, mayLeave: boolean, options: LaunchOptions): Promise<void> {
  const { device, shape, scaling: p, byRow, byColumn } = system;
  const rows = range(shape.observations);
  const bound = constrained(system, p.all);
  const columns = range(bound.length);
  await device.run(kernels.squaresConstraints, { columnStart: byColumn.start, a: byColumn.values, p: bound }, columns, options);
  const { empty } = await device.run(inverseNorms, { p: p.all }, range(p.all.length), options);
  if (empty > 0 && !mayLeave) throw new LaunchError(`${empty} unknowns occur in no row: the system needs more observations`);

  await device.run(kernels.scaleAstro, { a: system.astrometric, star: system.star, p: p.astrometric }, rows, options);
  await device.run(kernels.scaleAtt, { a: system.attitude, knot: system.knot, p: p.attitude }, rows, options);
  await device.run(kernels.scaleInstr, { a: system.instrument, column: system.column, p: p.instrument }, rows, options);
  if (system.global && p.global) await device.run(kernels.scaleGlobal, { g: system.global, p: p.global }, rows, options);
  await device.run(kernels.scaleConstraintRows, { column: byRow.index, a: byRow.values, p: bound }, range(byRow.values.length), options);
  await device.run(kernels.scaleConstraintColumns, { columnStart: byColumn.start, a: byColumn.values, p: bound }, columns, options);
}
