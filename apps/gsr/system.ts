import type { Device, LaunchOptions, LayoutName, View } from "isoform";
import { LaunchError, f64, i32, range, teams } from "isoform";
import type { Progress } from "isoform/portability";
import { requireMemory } from "isoform/set";
import type { SparseRows } from "./constraints.js";
import { constraintRows, transposed } from "./constraints.js";
import { FIRST_BLOCK, generateCoefficients, generateIndices, starOfRow } from "./generate.js";
import * as kernels from "./kernels.js";
import { publishedRows } from "./published.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, ATTITUDE, AXES, INSTRUMENT, KNOTS, ROW, attitudePass, instrumentLayout, sections, starRows } from "./shape.js";
import { inverseNorms } from "./vectors.js";
import { turn } from "./turn.js";

/** `published`: the authors' simulator, number by number, on the host; `parallel`: made on the device. */
export const GENERATORS = ["parallel", "published"] as const;
/** `parallel`: made on the device; `published`: the numbers of the published program's simulator, made on the host. */
export type GeneratorName = (typeof GENERATORS)[number];

/** A vector over the unknowns, and its three sections. */
export interface Unknowns {
  all: View<"f64">;
  /** [star][5] */
  astrometric: View<"f64">;
  /** [axis][knot] */
  attitude: View<"f64">;
  instrument: View<"f64">;
}

/** A sparse matrix on the device. */
interface DeviceSparse {
  start: View<"i32">;
  index: View<"i32">;
  values: View<"f64">;
}

/** The system A x = b on a device: observations first, then constraints. */
export interface System {
  readonly device: Device;
  readonly shape: Shape;
  /** Number of constraint rows. */
  readonly constraintCount: number;
  /** Coefficients, a row an observation. */
  readonly astrometric: View<"f64">;
  readonly attitude: View<"f64">;
  readonly instrument: View<"f64">;
  readonly star: View<"i32">;
  readonly knot: View<"i32">;
  readonly column: View<"i32">;
  /** First row of each star, and the end of the last. */
  readonly starRow: View<"i32">;
  readonly byRow: DeviceSparse;
  readonly byColumn: DeviceSparse;
  readonly knownTerms: View<"f64">;
  /** Column scaling; the coefficients above are scaled by it. */
  readonly scaling: Unknowns;
  free(): void;
}

/** Sections of a vector over the unknowns of a system of this shape. */
export function unknowns(shape: Shape, all: View<"f64">): Unknowns {
  const { attitude, instrument, unknowns: end } = sections(shape);
  return {
    all,
    astrometric: all.slice([0, attitude]).reshape(shape.stars, ASTROMETRIC),
    attitude: all.slice([attitude, instrument]).reshape(AXES, shape.knots),
    instrument: all.slice([instrument, end]),
  };
}

/** Bytes of device memory: the system, and the solver's six vectors. */
export function footprint(shape: Shape): number {
  const rows = shape.observations;
  const { rowStart, columns } = constraintRows(shape);
  const constraints = 24 * columns.length + 4 * (rowStart.length + instrumentLayout(shape).size + 1);
  return (
    rows * (8 * ROW + 4 * (2 + INSTRUMENT)) +
    4 * (shape.stars + 1) +
    constraints +
    2 * 8 * (rows + rowStart.length - 1) +
    5 * 8 * sections(shape).unknowns
  );
}

/** Throws LaunchError where a system of this shape, with `more` bytes beside it, cannot fit the device. */
export function requireRoom(device: Device, shape: Shape, more = 0): void {
  const needed = footprint(shape) + more;
  const largest = 8 * ATTITUDE * shape.observations;
  requireMemory(device, { what: `a system of ${shape.observations} observations`, bytes: needed, largest, choose: "a smaller --gib" });
}

/** Options of `createSystem`. */
export interface SystemOptions extends LaunchOptions {
  generator: GeneratorName;
  /** Of the parallel generator. */
  seed: number;
  /** Of the coefficients: `right` keeps rows together, `left` makes a plane of each column. */
  layout?: LayoutName;
}

/** Generates the system of the identity test (x = 1) on the device and scales its columns to unit norm. */
export async function createSystem(device: Device, shape: Shape, options: SystemOptions, progress?: Progress): Promise<System> {
  const { generator, seed, layout, ...launch } = options;
  const rows = shape.observations;
  const constraints = constraintRows(shape);
  const constraintCount = constraints.rowStart.length - 1;
  const owned: View[] = [];
  const own = <V extends View>(array: V): V => (owned.push(array), array);
  try {
    const sparse = ({ rowStart, columns, values }: SparseRows): DeviceSparse => ({
      start: own(device.from(i32, rowStart)),
      index: own(device.from(i32, columns)),
      values: own(device.from(f64, values)),
    });
    const system: System = {
      device,
      shape,
      constraintCount,
      astrometric: own(device.array(f64, [rows, ASTROMETRIC], { layout })),
      attitude: own(device.array(f64, [rows, ATTITUDE], { layout })),
      instrument: own(device.array(f64, [rows, INSTRUMENT], { layout })),
      star: own(device.array(i32, rows)),
      knot: own(device.array(i32, rows)),
      column: own(device.array(i32, [rows, INSTRUMENT], { layout })),
      starRow: own(device.from(i32, starRows(shape))),
      byRow: sparse(constraints),
      byColumn: sparse(transposed(constraints, instrumentLayout(shape).size)),
      knownTerms: own(device.array(f64, rows + constraintCount)),
      scaling: unknowns(shape, own(device.array(f64, sections(shape).unknowns))),
      free: () => owned.forEach((array) => array.free()),
    };
    await device.run(
      starOfRow,
      { each: Math.floor(rows / shape.stars), longer: rows % shape.stars, star: system.star },
      range(rows),
      launch,
    );
    if (generator === "published") await copyPublishedRows(system, progress);
    else await generateRows(system, seed, launch);
    await setKnownTerms(system, constraints, launch);
    await scaleColumns(system, launch);
    return system;
  } catch (error) {
    owned.forEach((array) => array.free());
    throw error;
  }
}

async function copyPublishedRows({ device, shape, ...system }: System, progress?: Progress): Promise<void> {
  const { queue } = device;
  for (const { first, count, ...rows } of publishedRows(shape)) {
    const window = [first, first + count] as const;
    queue.write(system.astrometric.slice(window), rows.astrometric.subarray(0, count * ASTROMETRIC));
    queue.write(system.attitude.slice(window), rows.attitude.subarray(0, count * ATTITUDE));
    queue.write(system.instrument.slice(window), rows.instrument.subarray(0, count * INSTRUMENT));
    queue.write(system.knot.slice(window), rows.knot.subarray(0, count));
    queue.write(system.column.slice(window), rows.column.subarray(0, count * INSTRUMENT));
    progress?.(first + count, shape.observations, "rows");
    // Lets the bar be drawn and an interrupt be seen.
    await turn();
  }
}

async function generateRows({ device, shape, ...system }: System, seed: number, options: LaunchOptions): Promise<void> {
  const policy = range(shape.observations);
  const indices = {
    seed,
    pass: attitudePass(shape),
    lastKnot: shape.knots - KNOTS,
    lastColumn: instrumentLayout(shape).size - 1,
    knot: system.knot,
    column: system.column,
  };
  await device.run(generateIndices, indices, policy, options);
  const sectionsOfRow = [
    { firstBlock: FIRST_BLOCK.astrometric, width: ASTROMETRIC, a: system.astrometric },
    { firstBlock: FIRST_BLOCK.attitude, width: ATTITUDE, a: system.attitude },
    { firstBlock: FIRST_BLOCK.instrument, width: INSTRUMENT, a: system.instrument },
  ];
  for (const section of sectionsOfRow) await device.run(generateCoefficients, { seed, ...section }, policy, options);
}

async function setKnownTerms(system: System, { rowStart, values }: SparseRows, options: LaunchOptions): Promise<void> {
  const { device, astrometric, attitude, instrument, knownTerms } = system;
  const rows = system.shape.observations;
  await device.run(kernels.rowSums, { astrometric, attitude, instrument, b: knownTerms.slice([0, rows]) }, range(rows), options);
  const sums = Array.from({ length: system.constraintCount }, (_, r) =>
    values.subarray(rowStart[r], rowStart[r + 1]).reduce((a, b) => a + b, 0),
  );
  device.queue.write(knownTerms.slice([rows, knownTerms.length]), sums);
}

/** p = 1 / norm of each column over observations and constraints; A := A p. */
async function scaleColumns(system: System, options: LaunchOptions): Promise<void> {
  const { device, shape, scaling: p, byRow, byColumn } = system;
  const rows = range(shape.observations);
  const columns = range(p.instrument.length);
  await device.run(kernels.squaresAstro, { a: system.astrometric, starRow: system.starRow, p: p.astrometric }, teams(shape.stars), options);
  await device.run(kernels.squaresAtt, { a: system.attitude, knot: system.knot, p: p.attitude }, rows, options);
  await device.run(kernels.squaresInstr, { a: system.instrument, column: system.column, p: p.instrument }, rows, options);
  await device.run(kernels.squaresConstraints, { columnStart: byColumn.start, a: byColumn.values, p: p.instrument }, columns, options);
  const { empty } = await device.run(inverseNorms, { p: p.all }, range(p.all.length), options);
  if (empty > 0) throw new LaunchError(`${empty} unknowns occur in no row: the system needs more observations`);

  await device.run(kernels.scaleAstro, { a: system.astrometric, star: system.star, p: p.astrometric }, rows, options);
  await device.run(kernels.scaleAtt, { a: system.attitude, knot: system.knot, p: p.attitude }, rows, options);
  await device.run(kernels.scaleInstr, { a: system.instrument, column: system.column, p: p.instrument }, rows, options);
  await device.run(
    kernels.scaleConstraintRows,
    { column: byRow.index, a: byRow.values, p: p.instrument },
    range(byRow.values.length),
    options,
  );
  await device.run(kernels.scaleConstraintColumns, { columnStart: byColumn.start, a: byColumn.values, p: p.instrument }, columns, options);
}
