import type { Device, LaunchOptions, LayoutName, View } from "isoform";
import { LaunchError, f64, i32, range, teams } from "isoform";
import type { Progress } from "isoform/portability";
import type { DeviceSet, LocalMember } from "isoform/set";
import { devices, onAnyRank, readPieces, requireMemory, TreeSum } from "isoform/set";
import type { SparseRows } from "./constraints.js";
import { transposed } from "./constraints.js";
import type { Part } from "./division.js";
import { divide, shapeOfWindow } from "./division.js";
import { COLOURS, SIGHT, TIMES, TURNS } from "./factored.js";
import * as kernels from "./kernels.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, ATTITUDE, AXES, INSTRUMENT, ROW, sections, sharedUnknowns } from "./shape.js";
import type { Constraints, Observations, RowOrder, RowSource, Seen, Window } from "./source.js";
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
export interface DeviceSparse {
  start: View<"i32">;
  index: View<"i32">;
  values: View<"f64">;
}

/** Some stars' rows on a device, with coefficients scaled to columns of unit norm. */
export interface StarRows extends Observations {
  readonly device: Device;
  /** Unknowns of these stars and rows, and of all that stars share. */
  readonly shape: Shape;
  /** First row of each star, and the end of the last. */
  readonly starRow: View<"i32">;
}

/**
 * The system A x = b on a device: observations first, then constraints. It may be a part of a system that several devices share: some stars, numbered
 * from 0, and all that stars share.
 */
export interface System extends StarRows {
  /** Stars and rows that it has of the whole system. */
  readonly window: Window;
  /** Runs of its stars whose sums are made on their own: one, its own rows, where no order is asked for. */
  readonly tiles: readonly StarRows[];
  /** Constraint rows before scaling, on the unknowns that are here; columns count from `constrainedUnknowns[0]`. */
  readonly constraints: SparseRows;
  /** Number of constraint rows. */
  readonly constraintCount: number;
  /** Constraint rows that hold unknowns of stars, of any stars of the whole system. */
  readonly starConstraints: readonly number[];
  /** Unknowns that constraints may hold: the first, from which their columns count, and the end. */
  readonly constrainedUnknowns: readonly [first: number, end: number];
  readonly byRow: DeviceSparse;
  readonly byColumn: DeviceSparse;
  readonly knownTerms: View<"f64">;
  /** Column scaling; 0 for unknowns that have left the system. */
  readonly scaling: Unknowns;
  /** Places of its rows, if a form has put them into another order than the source's (row-order.ts). */
  readonly rowOrder?: RowOrder;
  /** The whole solution that the known terms were made for; undefined where it is 1 for all unknowns. */
  readonly exact?: Float64Array;
  free(): void;
}

/** Sections of a vector over the unknowns of a system of this shape; one of several sides, [unknown][side], has them as the last axis of each. */
export function unknowns(shape: Shape, all: View<"f64">): Unknowns {
  const { attitude, instrument, global, unknowns: end } = sections(shape);
  const sides = all.shape.slice(1);
  return {
    all,
    astrometric: all.slice([0, attitude]).reshape(shape.stars, ASTROMETRIC, ...sides),
    attitude: all.slice([attitude, instrument]).reshape(AXES, shape.knots, ...sides),
    instrument: all.slice([instrument, global]),
    global: shape.globals ? all.slice([global, end]) : undefined,
  };
}

/** The part of a vector over the unknowns that the constraints' columns count in. */
export const constrained = ({ constrainedUnknowns }: System, all: View<"f64">): View<"f64"> => all.slice(constrainedUnknowns);

/** Bytes of device memory: the system, or the part of it in a window, and the solver's six vectors. */
export function footprint({ shape: whole, constraints }: RowSource, window?: Window): number {
  const shape = window ? shapeOfWindow(whole, window) : whole;
  const rows = shape.observations;
  const { first, rowStart, columns } = constraints();
  const sparse = 24 * columns.length + 4 * (rowStart.length + Math.max(0, sections(shape).global - first) + 1);
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
  /** Whether factors of rows are kept beside coefficients. */
  factors?: boolean;
}

/** Makes a system of the source's rows on one device and scales its columns to unit norm. */
export async function createSystem(device: Device, source: RowSource, options: SystemOptions, progress?: Progress): Promise<System> {
  const [system] = await createSystems(await devices(device), source, divide(source.starRow, 1, false), () => options, progress);
  return system;
}

/** A member's part of a system before constraints are known. */
interface Draft {
  readonly member: LocalMember;
  readonly part: Part;
  readonly rows: StarRows;
  readonly tiles: readonly StarRows[];
  readonly scaling: Unknowns;
  readonly options: LaunchOptions;
  own<V extends View>(array: V): V;
  free(): void;
}

/**
 * Makes a system of the source's rows on a set, each member with its part of the stars, and scales the columns to unit norm. All processes of the set
 * call it.
 * @param optionsOf options for each device
 * @returns the systems of this process's members, in their order
 */
export async function createSystems(
  set: DeviceSet,
  source: RowSource,
  parts: readonly Part[],
  optionsOf: (device: Device) => SystemOptions,
  progress?: Progress,
): Promise<System[]> {
  const drafts: Draft[] = [];
  try {
    for (const member of set.locals) {
      const draft = makeDraft(member, source, parts[member.index], optionsOf(member.device));
      drafts.push(draft);
      await source.write(member.device, draft.rows, draft.part, draft.options, progress);
    }
    await addSquares(set, parts, drafts, source.shape);
    const squares = source.mayLeave
      ? await readWhole(
          set,
          parts,
          source.shape,
          drafts.map(({ scaling }) => scaling.all),
        )
      : undefined;
    const seen: Seen = (unknown) => !squares || squares[unknown] > 0;
    const constraints = source.constraints(seen);
    const exact = source.exact?.(constraints, seen);
    const systems = drafts.map((draft) => constrain(draft, source.shape, constraints, exact?.x));
    for (const [n, system] of systems.entries()) {
      const { options } = drafts[n];
      if (exact) await setProducts(system, source.shape, constraints, exact, options);
      else await setSums(system, constraints, options);
    }
    await scaleColumns(set, systems, drafts, source.mayLeave ?? false);
    return systems;
  } catch (error) {
    for (const draft of drafts) draft.free();
    throw error;
  }
}

function makeDraft(member: LocalMember, source: RowSource, part: Part, { layout, factors, ...options }: SystemOptions): Draft {
  const { device } = member;
  const shape = shapeOfWindow(source.shape, part);
  const rows = shape.observations;
  const owned: View[] = [];
  const own = <V extends View>(array: V): V => (owned.push(array), array);
  const free = () => owned.forEach((array) => array.free());
  try {
    const all: StarRows = {
      device,
      shape,
      astrometric: own(device.array(f64, [rows, ASTROMETRIC], { layout })),
      attitude: own(device.array(f64, [rows, ATTITUDE], { layout })),
      instrument: own(device.array(f64, [rows, INSTRUMENT], { layout })),
      global: shape.globals ? own(device.array(f64, rows)) : undefined,
      star: own(device.array(i32, rows)),
      knot: own(device.array(i32, rows)),
      column: own(device.array(i32, [rows, INSTRUMENT], { layout })),
      factors: factors
        ? {
            sight: own(device.array(f64, [rows, SIGHT], { layout })),
            turns: own(device.array(f64, [rows, TURNS], { layout })),
            weight: own(device.array(f64, rows)),
            place: own(device.array(i32, rows)),
            colours: own(device.array(f64, [shape.stars, COLOURS])),
            times: own(device.array(f64, [shape.knots, TIMES])),
          }
        : undefined,
      starRow: own(device.from(i32, startsOf(source.starRow, part))),
    };
    const tiles =
      part.tiles.length === 1
        ? [all]
        : part.tiles.map((tile) => windowOf(all, part, tile, own(device.from(i32, startsOf(source.starRow, tile)))));
    const scaling = unknowns(shape, own(device.array(f64, sections(shape).unknowns)));
    return { member, part, rows: all, tiles, scaling, options, own, free };
  } catch (error) {
    free();
    throw error;
  }
}

/** First row of each star of a window, and the end of the last, counted from the window's first. */
const startsOf = (starRow: Int32Array, { stars: [first, end], rows }: Window): Int32Array =>
  starRow.subarray(first, end + 1).map((row) => row - rows[0]);

/** Some of a member's rows. Stars in `star` keep their numbers. */
function windowOf(all: StarRows, part: Window, tile: Window, starRow: View<"i32">): StarRows {
  const bounds = [tile.rows[0] - part.rows[0], tile.rows[1] - part.rows[0]] as const;
  return {
    device: all.device,
    shape: shapeOfWindow(all.shape, tile),
    astrometric: all.astrometric.slice(bounds),
    attitude: all.attitude.slice(bounds),
    instrument: all.instrument.slice(bounds),
    global: all.global?.slice(bounds),
    star: all.star.slice(bounds),
    knot: all.knot.slice(bounds),
    column: all.column.slice(bounds),
    factors: all.factors && {
      ...all.factors,
      sight: all.factors.sight.slice(bounds),
      turns: all.factors.turns.slice(bounds),
      weight: all.factors.weight.slice(bounds),
      place: all.factors.place.slice(bounds),
    },
    starRow,
  };
}

/** Places of the unknowns of each tile's stars in a vector of its system, and those that stars share. */
export function unknownsOfTiles({ tiles, shape }: Pick<System, "tiles" | "shape">): {
  readonly stars: readonly (readonly [first: number, end: number])[];
  readonly shared: readonly [first: number, end: number];
} {
  let star = 0;
  const stars = tiles.map((tile) => [ASTROMETRIC * star, ASTROMETRIC * (star += tile.shape.stars)] as const);
  return { stars, shared: [sections(shape).attitude, sections(shape).unknowns] };
}

/**
 * A vector over all unknowns. Each member has a part: its stars', and a copy of what stars share. All processes of a set call it.
 * @param vectors of the members of this process, in their order
 */
export async function readWhole(
  set: DeviceSet,
  parts: readonly Part[],
  shape: Shape,
  vectors: readonly View<"f64">[],
): Promise<Float64Array> {
  const shared = sharedUnknowns(shape);
  const lengths = parts.map(({ stars }, m) => ASTROMETRIC * (stars[1] - stars[0]) + (m === 0 ? shared : 0));
  const views: View<"f64">[] = [];
  set.locals.forEach(({ index }, n) => (views[index] = vectors[n].slice([0, lengths[index]])));
  const pieces = await readPieces(set, views, lengths, "a vector of unknowns");
  const whole = new Float64Array(sections(shape).unknowns);
  for (const [m, { stars }] of parts.entries())
    whole.set(pieces[m].subarray(0, ASTROMETRIC * (stars[1] - stars[0])), ASTROMETRIC * stars[0]);
  whole.set(pieces[0].subarray(lengths[0] - shared), whole.length - shared);
  return whole;
}

/** The part of a vector over all unknowns that belongs to a window. */
export function partOfWhole(shape: Shape, { stars: [first, end] }: Window, whole: ArrayLike<number>): Float64Array {
  const shared = sharedUnknowns(shape);
  const own = ASTROMETRIC * (end - first);
  const from = (j: number): number => (j < own ? ASTROMETRIC * first + j : whole.length - shared + j - own);
  return Float64Array.from({ length: own + shared }, (_, j) => whole[from(j)]);
}

/** The constraint rows on the unknowns of a window, all of them, empty or not; columns count from `first`. */
function constraintsOf(shape: Shape, { stars }: Window, all: Constraints): Constraints {
  const own = [ASTROMETRIC * stars[0], ASTROMETRIC * stars[1]];
  const end = sections(shape).attitude;
  const first = all.first < end ? 0 : all.first - end + own[1] - own[0];
  const rowStart = [0];
  const entries: [column: number, value: number][] = [];
  for (let r = 0; r + 1 < all.rowStart.length; r++) {
    for (let e = all.rowStart[r]; e < all.rowStart[r + 1]; e++) {
      const unknown = all.first + all.columns[e];
      if (unknown >= end) entries.push([unknown - end + own[1] - own[0] - first, all.values[e]]);
      else if (unknown >= own[0] && unknown < own[1]) entries.push([unknown - own[0] - first, all.values[e]]);
    }
    rowStart.push(entries.length);
  }
  return {
    first,
    rowStart: Int32Array.from(rowStart),
    columns: Int32Array.from(entries, ([column]) => column),
    values: Float64Array.from(entries, ([, value]) => value),
  };
}

/** The constraint rows with an entry in the column of a star. */
function starConstraintsOf(shape: Shape, { first, rowStart, columns }: Constraints): number[] {
  const end = sections(shape).attitude - first;
  const rows = Array.from({ length: rowStart.length - 1 }, (_, r) => r);
  return rows.filter((r) => columns.subarray(rowStart[r], rowStart[r + 1]).some((column) => column < end));
}

/** Copies a sparse matrix to a device. */
export const uploadSparse = (device: Device, matrix: SparseRows): DeviceSparse => ({
  start: device.from(i32, matrix.rowStart),
  index: device.from(i32, matrix.columns),
  values: device.from(f64, matrix.values),
});

function constrain(
  { member: { device }, part, rows, tiles, scaling, own, free }: Draft,
  whole: Shape,
  all: Constraints,
  exact?: Float64Array,
): System {
  const { shape } = rows;
  const constraints = constraintsOf(whole, part, all);
  const { first, rowStart } = constraints;
  const end = sections(shape).global;
  const sparse = (matrix: SparseRows): DeviceSparse => {
    const made = uploadSparse(device, matrix);
    Object.values(made).forEach(own);
    return made;
  };
  const constraintCount = rowStart.length - 1;
  return {
    ...rows,
    window: part,
    tiles,
    constraints,
    constraintCount,
    starConstraints: starConstraintsOf(whole, all),
    constrainedUnknowns: [first, end],
    byRow: sparse(constraints),
    byColumn: sparse(transposed(constraints, end - first)),
    knownTerms: own(device.array(f64, shape.observations + constraintCount)),
    scaling,
    exact,
    free,
  };
}

/** Known terms of the identity test, x = 1: the sum of each row's coefficients. */
async function setSums(system: System, { rowStart, values }: SparseRows, options: LaunchOptions): Promise<void> {
  const { device, astrometric, attitude, instrument, global, knownTerms } = system;
  const rows = system.shape.observations;
  const b = knownTerms.slice([0, rows]);
  await device.run(kernels.rowSums, { astrometric, attitude, instrument, b }, range(rows), options);
  if (global) await device.run(kernels.rowSumsGlob, { g: global, b }, range(rows), options);
  const sums = Array.from({ length: system.constraintCount }, (_, r) =>
    values.subarray(rowStart[r], rowStart[r + 1]).reduce((a, b) => a + b, 0),
  );
  device.queue.write(knownTerms.slice([rows, knownTerms.length]), sums);
}

/** Known terms of a given solution: the products of the unscaled rows with it, with noise on observations if there is any. */
async function setProducts(
  system: System,
  whole: Shape,
  { first, rowStart, columns, values }: Constraints,
  { x, noise }: { x: Float64Array; noise?: Float64Array },
  options: LaunchOptions,
): Promise<void> {
  const { device, shape, knownTerms, window } = system;
  const rows = shape.observations;
  const solution = device.from(f64, partOfWhole(whole, window, x));
  const { astrometric, attitude, instrument, global } = unknowns(shape, solution);
  const b = knownTerms.slice([0, rows]);
  const each = range(rows);
  if (noise) device.queue.write(b, noise.subarray(...window.rows));
  await device.run(kernels.a1Astro, { a: system.astrometric, star: system.star, x: astrometric, b }, each, options);
  await device.run(kernels.a1Att, { a: system.attitude, knot: system.knot, x: attitude, b }, each, options);
  await device.run(kernels.a1Instr, { a: system.instrument, column: system.column, x: instrument, b }, each, options);
  if (system.global && global) await device.run(kernels.a1Glob, { g: system.global, x: global, b }, each, options);
  solution.free();
  const terms = new Float64Array(system.constraintCount);
  if (!noise)
    for (let r = 0; r < terms.length; r++)
      for (let e = rowStart[r]; e < rowStart[r + 1]; e++) terms[r] += values[e] * x[first + columns[e]];
  device.queue.write(knownTerms.slice([rows, knownTerms.length]), terms);
}

/** Adds the squares of the observations' coefficients, column by column. */
async function addSquares(set: DeviceSet, parts: readonly Part[], drafts: readonly Draft[], shape: Shape): Promise<void> {
  const shared = sharedUnknowns(shape);
  const results: View[] = [];
  for (const { member, scaling } of drafts) results[member.index] = scaling.all.slice([scaling.all.length - shared, scaling.all.length]);
  const sum = new TreeSum(set, f64, {
    name: "squares of columns",
    length: shared,
    leaves: parts.map(({ tiles }) => tiles.length),
    results,
  });
  for (const { member, tiles, scaling, options } of drafts) {
    const { stars } = unknownsOfTiles({ tiles, shape: tiles[0].shape });
    for (const [n, tile] of tiles.entries()) {
      const { device, starRow } = tile;
      const leaf = sum.leaf(member.index, n);
      const stream = member.queue(0);
      stream.clear(leaf);
      await stream.finish();
      const { attitude, instrument, global } = sharedOf(tile.shape, leaf);
      const p = scaling.all.slice(stars[n]).reshape(tile.shape.stars, ASTROMETRIC);
      const rows = range(tile.star.length);
      await device.run(kernels.squaresAstro, { a: tile.astrometric, starRow, p }, teams(tile.shape.stars), options);
      await device.run(kernels.squaresAtt, { a: tile.attitude, knot: tile.knot, p: attitude }, rows, options);
      await device.run(kernels.squaresInstr, { a: tile.instrument, column: tile.column, p: instrument }, rows, options);
      if (tile.global && global) await device.run(kernels.squaresGlobal, { g: tile.global, p: global }, rows, options);
      sum.add(member.index, n);
    }
  }
  sum.finish();
  for (const member of set.locals) await member.queue(0).finish();
  sum.free();
}

/** Sections of a vector over the unknowns that stars share. */
export function sharedOf(shape: Shape, all: View<"f64">): Omit<Unknowns, "all" | "astrometric"> {
  const { attitude, instrument, global, unknowns: end } = sections(shape);
  return {
    attitude: all.slice([0, instrument - attitude]).reshape(AXES, shape.knots, ...all.shape.slice(1)),
    instrument: all.slice([instrument - attitude, global - attitude]),
    global: shape.globals ? all.slice([global - attitude, end - attitude]) : undefined,
  };
}

/** p = 1 / norm of each column over observations, whose squares it holds, and constraints; A := A p. */
async function scaleColumns(set: DeviceSet, systems: readonly System[], drafts: readonly Draft[], mayLeave: boolean): Promise<void> {
  let missing = 0;
  for (const [n, system] of systems.entries()) {
    const { device, scaling: p, byColumn } = system;
    const bound = constrained(system, p.all);
    const { options } = drafts[n];
    await device.run(
      kernels.squaresConstraints,
      { columnStart: byColumn.start, a: byColumn.values, p: bound },
      range(bound.length),
      options,
    );
    const { empty } = await device.run(inverseNorms, { p: p.all }, range(p.all.length), options);
    missing = Math.max(missing, empty);
  }
  if (!mayLeave && (await onAnyRank(set, missing > 0, "columns without a row")))
    throw new LaunchError(`${missing > 0 ? missing : "some"} unknowns occur in no row: the system needs more observations`);
  for (const [n, system] of systems.entries()) await scaleRows(system, drafts[n].options);
}

async function scaleRows(system: System, options: LaunchOptions): Promise<void> {
  const { device, shape, scaling: p, byRow, byColumn } = system;
  const rows = range(shape.observations);
  const bound = constrained(system, p.all);
  const columns = range(bound.length);
  await device.run(kernels.scaleAstro, { a: system.astrometric, star: system.star, p: p.astrometric }, rows, options);
  await device.run(kernels.scaleAtt, { a: system.attitude, knot: system.knot, p: p.attitude }, rows, options);
  await device.run(kernels.scaleInstr, { a: system.instrument, column: system.column, p: p.instrument }, rows, options);
  if (system.global && p.global) await device.run(kernels.scaleGlobal, { g: system.global, p: p.global }, rows, options);
  await device.run(kernels.scaleConstraintRows, { column: byRow.index, a: byRow.values, p: bound }, range(byRow.values.length), options);
  await device.run(kernels.scaleConstraintColumns, { columnStart: byColumn.start, a: byColumn.values, p: bound }, columns, options);
}
